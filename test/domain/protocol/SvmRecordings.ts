import type { Offer } from "#domain/protocol/Authorization.ts"

/** SHA-256 over 200 token accounts, as @solana-program/token-2022 derives them. */
export const derivations = "9a0b083eeda6d7b46a0e5aaaab8f6fe654d48643e381081d4d9dfa2709020cb8"

/** Made once by `node test/interop/svm/record.mjs` with @x402/svm 2.27.0 as it is: offers, and what the client signs. */
export const recordings = {
  usdc: {
    offer: {
      scheme: "exact",
      network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
      amount: "10000",
      asset: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
      payTo: "4T4ZEVjm4Fnr5UvQNWKiZVqezthuRqDFBr9pS5Uk9Kri",
      maxTimeoutSeconds: 300,
      extra: {
        feePayer: "DpfFMMY9xESeZsWifjae8r8DLhUWvEHLcQxgNefHh5ov",
        memo: "pr_recorded 1",
        recentBlockhash: "Mft8Znq37zMp4jrnayku19S3uDw24WfBgUpvUDtU84t"
      }
    },
    transaction:
      "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADtt7AUFBs+vKcdrYp0kEb6ijPxnZfRRl1Pd4YvwsITKB7Osbb3wWmBJYwHlirK68GEAUavgrLO+Jk1WVwM76APgAIBBAi+gcmjZzI1D9//QX4b2Kn32SLoBY5d2VEB8ZhhkxWA8bPYp8MMmwnZSy+WUzaWe1USmWXctY/GBIp+aknVCjDoSm7RqiAxTXB38F+OuHp7h1pdoEzM7ORxYCWLDDaGKu5K5KuKKCQWKsk9yyejsbA9YhojTEBsqSTux+lmmuK9TztELLORIVfxOpM9ATQoLQMrX/7NAaLb8bd5BgjfAC6nAwZGb+UhFzL/7K26csOb57yM5bvF9xJrLEObOkAAAAAFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpBUuUZ0QTo1TsQqg1ihPKvif6BCLfrDx9TOdIK9/PywUEBQAFAiBOAAAFAAkDAQAAAAAAAAAHBAMEAgEKDBAnAAAAAAAABgYADXByX3JlY29yZGVkIDEA"
  },
  eurc: {
    offer: {
      scheme: "exact",
      network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
      amount: "1",
      asset: "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr",
      payTo: "4T4ZEVjm4Fnr5UvQNWKiZVqezthuRqDFBr9pS5Uk9Kri",
      maxTimeoutSeconds: 300,
      extra: { feePayer: "DpfFMMY9xESeZsWifjae8r8DLhUWvEHLcQxgNefHh5ov", memo: "pr_recorded 1" }
    },
    transaction:
      "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADwNccJ+bDp+01XGgUywc3cFhMEf/v249Ko6dkGszTUrmnSVut7xI5AyLn1UalUfmWxxkMI1UxT2ijbuI6rt3wJgAIBBAi+gcmjZzI1D9//QX4b2Kn32SLoBY5d2VEB8ZhhkxWA8bPYp8MMmwnZSy+WUzaWe1USmWXctY/GBIp+aknVCjDoVylSMjtx53WZWjVRVHUmHifMiE32pXBi90flem6v1MfQHCGuTIVqSE1MXQOXz84mYhObEUbZkB5tEidz5/MA6QMGRm/lIRcy/+ytunLDm+e8jOW7xfcSayxDmzpAAAAA/JMaK1jNI9stkdKW2WUFoG+AlCCD+EHoqIfxOKwDBDcFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpBUuUZ0QTo1TsQqg1ihPKvif6BCLfrDx9TOdIK9/PywUEBAAFAiBOAAAEAAkDAQAAAAAAAAAHBAIFAwEKDAEAAAAAAAAABgYADXByX3JlY29yZGVkIDEA"
  },
  noMemo: {
    offer: {
      scheme: "exact",
      network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
      amount: "999999000000",
      asset: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
      payTo: "4T4ZEVjm4Fnr5UvQNWKiZVqezthuRqDFBr9pS5Uk9Kri",
      maxTimeoutSeconds: 300,
      extra: { feePayer: "DpfFMMY9xESeZsWifjae8r8DLhUWvEHLcQxgNefHh5ov" }
    },
    transaction:
      "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACm5akDYfLQcK51J9UCLe+x3q/Y0/KXvn8uZh2eP8mWWKT6+ud7hCCLSkAtJjsCKN4QVixhh6noKiU+NGXToOYEgAIBBAi+gcmjZzI1D9//QX4b2Kn32SLoBY5d2VEB8ZhhkxWA8bPYp8MMmwnZSy+WUzaWe1USmWXctY/GBIp+aknVCjDoSm7RqiAxTXB38F+OuHp7h1pdoEzM7ORxYCWLDDaGKu5K5KuKKCQWKsk9yyejsbA9YhojTEBsqSTux+lmmuK9TztELLORIVfxOpM9ATQoLQMrX/7NAaLb8bd5BgjfAC6nAwZGb+UhFzL/7K26csOb57yM5bvF9xJrLEObOkAAAAAFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpBUuUZ0QTo1TsQqg1ihPKvif6BCLfrDx9TOdIK9/PywUEBQAFAiBOAAAFAAkDAQAAAAAAAAAHBAMEAgEKDMDNldToAAAABgYAIDVlM2Y3YmUyZjgyY2NkMDdiNzkxMDM3OGE3OTFmOWQyAA=="
  },
  version1: {
    offer: {
      scheme: "exact",
      asset: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
      payTo: "4T4ZEVjm4Fnr5UvQNWKiZVqezthuRqDFBr9pS5Uk9Kri",
      maxTimeoutSeconds: 300,
      extra: { feePayer: "DpfFMMY9xESeZsWifjae8r8DLhUWvEHLcQxgNefHh5ov", memo: "pr_recorded 1" },
      amount: "10000",
      network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
    },
    transaction:
      "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADtt7AUFBs+vKcdrYp0kEb6ijPxnZfRRl1Pd4YvwsITKB7Osbb3wWmBJYwHlirK68GEAUavgrLO+Jk1WVwM76APgAIBBAi+gcmjZzI1D9//QX4b2Kn32SLoBY5d2VEB8ZhhkxWA8bPYp8MMmwnZSy+WUzaWe1USmWXctY/GBIp+aknVCjDoSm7RqiAxTXB38F+OuHp7h1pdoEzM7ORxYCWLDDaGKu5K5KuKKCQWKsk9yyejsbA9YhojTEBsqSTux+lmmuK9TztELLORIVfxOpM9ATQoLQMrX/7NAaLb8bd5BgjfAC6nAwZGb+UhFzL/7K26csOb57yM5bvF9xJrLEObOkAAAAAFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawctIXtX1s3kTqM9YV+/wCpBUuUZ0QTo1TsQqg1ihPKvif6BCLfrDx9TOdIK9/PywUEBQAFAiBOAAAFAAkDAQAAAAAAAAAHBAMEAgEKDBAnAAAAAAAABgYADXByX3JlY29yZGVkIDEA"
  }
} satisfies Record<string, { readonly offer: Offer; readonly transaction: string }>

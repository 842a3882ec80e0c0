const escaped: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Text as HTML. Everything on a page of ours that came from somebody else goes through this. */
export const html = (text: string): string => text.replace(/[&<>"']/g, (letter) => escaped[letter] ?? "")

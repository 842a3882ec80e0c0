/**
 * The path of a public address, empty or from a slash on: a proxy takes it off before it hands a request on. No request that comes here
 * has it, and every path that is given out does.
 */
export const publicPrefix = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/+$/, "")

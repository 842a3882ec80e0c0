/** An element of a list in which commas may be quoted, and whether it ends within a quote that nothing closes. */
export const elements = /(?:"(?:\\.?|[^"\\])*(?:"|($))|[^,"])+/gs

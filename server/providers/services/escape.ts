/**
 * Escapes a text as one part of an address, including the characters of RFC 3986 that `encodeURIComponent` leaves
 * unescaped.
 */
export const escapePart = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )

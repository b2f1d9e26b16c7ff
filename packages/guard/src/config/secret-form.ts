/**
 * Whether a text has the form of a secret: 32 bytes in hexadecimal. In a file of its own, because the program that
 * works in a site's folder needs nothing else of the configuration.
 */
export function isSecret(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/**
 * Splits a page title at its hyphen. The part before it is set lighter, and on phones it stands on its own line.
 * A title without a hyphen is one part.
 */
export function splitTitle(title: string): { readonly product: string | null; readonly page: string } {
  const at = title.indexOf(' - ');
  return at < 0
    ? { product: null, page: title }
    : { product: title.slice(0, at), page: title.slice(at + ' - '.length) };
}

/** A number with the thousands of a language. @param locale BCP 47; one that the browser does not know means English */
export function formatNumber(value: number, locale: string): string {
  try {
    return value.toLocaleString(locale);
  } catch {
    return value.toLocaleString('en');
  }
}

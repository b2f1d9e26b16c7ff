import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/protections';

/** Values of the options that the server knows. An older server may not know all of them. */
export type KnownOptions = Readonly<Partial<Record<SecurityField, 0 | 1>>>;

/** Reads the answered options. Values that are neither on nor off count as not known. */
export function readSecurityOptions(data: unknown): KnownOptions {
  const known: Partial<Record<SecurityField, 0 | 1>> = {};
  if (typeof data !== 'object' || data === null) return known;
  for (const { field } of siteSecurityToggles) {
    const value = (data as Record<string, unknown>)[field];
    if (value === 1 || value === '1' || value === true) known[field] = 1;
    if (value === 0 || value === '0' || value === false) known[field] = 0;
  }
  return known;
}

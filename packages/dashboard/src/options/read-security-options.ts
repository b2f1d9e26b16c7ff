import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/protections';
import { isFields } from '../data/fields.js';
import { readFlag } from './read-flag.js';

/** Values of the options that the server knows. An older server may not know all of them. */
export type KnownOptions = Readonly<Partial<Record<SecurityField, 0 | 1>>>;

/** Reads the answered options. Values that are neither on nor off count as not known. */
export function readSecurityOptions(data: unknown): KnownOptions {
  const known: Partial<Record<SecurityField, 0 | 1>> = {};
  if (!isFields(data)) return known;
  for (const { field } of siteSecurityToggles) {
    const value = readFlag(data[field]);
    if (value !== undefined) known[field] = value;
  }
  return known;
}

import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/protections';

type Values = Readonly<Partial<Record<SecurityField, 0 | 1>>>;

/** Counts the essentials among the options whose value is known, and how many of them are on. */
export function countEssentials(values: Values): { readonly on: number; readonly total: number } {
  const known = siteSecurityToggles.filter(({ essential, field }) => essential && values[field] !== undefined);
  return { on: known.filter(({ field }) => values[field] === 1).length, total: known.length };
}

/** The label 'recommended' belongs to an essential that is off. */
export function isRecommended(toggle: { readonly essential: boolean }, value: 0 | 1): boolean {
  return toggle.essential && value === 0;
}

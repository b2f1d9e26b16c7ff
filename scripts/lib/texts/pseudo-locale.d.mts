/** See pseudo-locale.mjs. */
export function pseudoLocale(texts: readonly { text: string; plural: string | null; code?: string }[]): string;

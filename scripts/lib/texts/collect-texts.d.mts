/** See collect-texts.mjs. */
export function collectTexts(
  root: string,
): Promise<{ text: string; plural: string | null; files: string[]; code?: string }[]>;

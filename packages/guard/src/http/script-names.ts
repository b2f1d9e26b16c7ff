/** File name endings that some web server may pass to an interpreter. */
export const SCRIPT_ENDINGS =
  'php\\d*|phtml?|pht|phps|phar|pgif|shtml?|stm|cgi|fcgi|pl|py|rb|lua|sh|aspx?|ashx|asmx|cer|asa|jspx?|cfml?|cfc';
const SCRIPT_SEGMENT = new RegExp(`\\.(?:${SCRIPT_ENDINGS})$`);
const SCRIPT_BEFORE_MARK = new RegExp(`\\.(?:${SCRIPT_ENDINGS})(?:[;?:. ]|$)`);

/** Whether a segment of a canonical path is named like a script. */
export function isScriptName(segment: string): boolean {
  return segment.includes('.') && SCRIPT_SEGMENT.test(segment);
}

/** Whether a part of a name holds a script's ending, at its end or in front of another mark. */
export function holdsScriptEnding(part: string): boolean {
  return SCRIPT_BEFORE_MARK.test(part);
}

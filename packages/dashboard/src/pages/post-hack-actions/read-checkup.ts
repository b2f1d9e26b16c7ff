import type { CheckupFinding } from '@security-optimizer/contract/post-hack';
import { isFields, text, texts } from './read-post-hack.js';

/** A part of the checkup with what was found. */
export interface CheckupPart {
  readonly part: string;
  readonly title: string;
  /** Why it could not be looked at; empty when it was. */
  readonly error: string;
  readonly findings: readonly CheckupFinding[];
}

const LEVELS: readonly CheckupFinding['level'][] = ['problem', 'note', 'fine'];

/** Reads the answer of the checkup; null when nothing of it can be used. */
export function readCheckup(data: unknown): CheckupPart[] | null {
  if (!isFields(data) || !Array.isArray(data.parts)) return null;
  const parts = data.parts.filter(isFields).map((part) => ({
    part: text(part.part),
    title: text(part.title),
    error: text(part.error),
    findings: Array.isArray(part.findings) ? part.findings.map(readFinding).filter((found) => found !== null) : [],
  }));
  return parts.length === 0 ? null : parts;
}

function readFinding(data: unknown): CheckupFinding | null {
  if (!isFields(data)) return null;
  return {
    id: text(data.id),
    // What is not understood should rather be looked at.
    level: LEVELS.find((level) => level === data.level) ?? 'note',
    title: text(data.title),
    text: text(data.text),
    link: text(data.link),
    link_text: text(data.link_text),
    items: texts(data.items),
  };
}

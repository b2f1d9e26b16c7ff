import type { PageId } from '@security-optimizer/contract/pages';
import type { ReactNode } from 'react';
import type { SiteState } from '../test/site-answers.js';
import type { Hands } from './stage/hands.js';

/** How an example is looked at. */
export interface Look {
  /** Of the window, CSS pixels. */
  readonly width: 1440 | 1000 | 390;
  readonly dir: 'ltr' | 'rtl';
  /** `pseudo`: the language of the layout tests, in which every text is longer and marked. */
  readonly language: 'en' | 'de' | 'pseudo';
}

interface Shown {
  /** Unique in the gallery: the hash of its address and the name of its pictures. */
  readonly id: string;
  readonly title: string;
  /** What the owner does before the picture is taken. */
  readonly act?: (hands: Hands) => Promise<void>;
}

/** A component in one state. */
export interface PartExample extends Shown {
  readonly draw: () => ReactNode;
  /** What it stands on: a card with padding, a card that it fills, or the grey of the page. */
  readonly ground?: 'card' | 'flush' | 'page';
  /** Shows how it looks under the pointer or with the focus. @see ForcedState */
  readonly force?: ForcedState;
  /** It covers the page or takes the focus, so it needs a document of its own. */
  readonly alone?: boolean;
  /** For what is drawn beside this part, below it or above it, outside its own box: CSS pixels. */
  readonly room?: number;
}

/** A whole page of wp-admin, with what may be open on it. */
export interface PageExample extends Shown {
  readonly page: PageId;
  /** Of the page's address, without `#`. */
  readonly hash?: string;
  /** Changes what the site has stored, or how it answers. */
  readonly site?: (site: SiteState) => void;
  /** Members of the configuration that differ from an ordinary site's. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What the picture is of, where that is not the whole page or the dialog: the first element that matches. */
  readonly area?: string;
  /** Looks beside the wide one that pictures are kept of. */
  readonly looks?: readonly LookName[];
}

/** A state that only a pointer or the keyboard can bring about, forced on the first element that matches. */
export interface ForcedState {
  readonly state: 'hover' | 'focus' | 'active';
  readonly on: string;
}

export type Example = PartExample | PageExample;

export interface Group {
  readonly id: string;
  readonly title: string;
  /** Small parts stand side by side. */
  readonly small?: boolean;
  readonly examples: readonly Example[];
}

/** The looks that pictures are kept of. */
export const LOOKS = {
  wide: { width: 1440, dir: 'ltr', language: 'en' },
  middle: { width: 1000, dir: 'ltr', language: 'en' },
  phone: { width: 390, dir: 'ltr', language: 'en' },
  rtl: { width: 1000, dir: 'rtl', language: 'pseudo' },
  german: { width: 1000, dir: 'ltr', language: 'de' },
} as const satisfies Record<string, Look>;
export type LookName = keyof typeof LOOKS;

export function isPage(example: Example): example is PageExample {
  return 'page' in example;
}

/** Whether it has a document to itself. */
export function isAlone(example: Example): boolean {
  return isPage(example) || example.alone === true || example.act !== undefined;
}

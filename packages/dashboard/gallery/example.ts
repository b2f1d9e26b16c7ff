import type { PageId } from '@security-optimizer/contract/pages';
import type { ReactNode } from 'react';
import type { SiteState } from '../test/fake-site/responses.js';
import type { UserActions } from './stage/user-actions.js';

/** Window width, direction and language of an example. */
export interface Variant {
  /** Width of the window, CSS pixels. */
  readonly width: 1440 | 1000 | 390;
  readonly dir: 'ltr' | 'rtl';
  /** `pseudo`: the pseudo-locale of the layout tests, whose texts are longer and marked. */
  readonly language: 'en' | 'de' | 'pseudo';
}

interface Shown {
  /** Unique; also the hash of its URL and the name of its baselines. */
  readonly id: string;
  readonly title: string;
  /** User actions before the screenshot. */
  readonly act?: (user: UserActions) => Promise<void>;
}

/** A component in one state. */
export interface PartExample extends Shown {
  readonly draw: () => ReactNode;
  /** Background: a card with padding, a card without, or the page. */
  readonly ground?: 'card' | 'flush' | 'page';
  readonly force?: ForcedState;
  /** Needs its own document, because it covers the page or takes the focus. */
  readonly alone?: boolean;
  /** Space below the part for content that it draws outside its box, CSS pixels. */
  readonly room?: number;
}

/** A whole page of wp-admin, possibly with an open dialog. */
export interface PageExample extends Shown {
  readonly page: PageId;
  /** Hash of the page's URL, without `#`. */
  readonly hash?: string;
  /** Changes the state or the responses of the site. */
  readonly site?: (site: SiteState) => void;
  /** Overrides of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Selector of the captured element. Default: the dialog or the whole page. */
  readonly area?: string;
  /** Variants with baselines, besides the wide one. */
  readonly variants?: readonly VariantName[];
}

/** A pseudo-class that is forced on the first element that matches. */
export interface ForcedState {
  readonly state: 'hover' | 'focus' | 'active';
  readonly on: string;
}

export type Example = PartExample | PageExample;

export interface Group {
  readonly id: string;
  readonly title: string;
  /** Draws small parts side by side. */
  readonly small?: boolean;
  readonly examples: readonly Example[];
}

/** The variants with baselines. */
export const VARIANTS = {
  wide: { width: 1440, dir: 'ltr', language: 'en' },
  middle: { width: 1000, dir: 'ltr', language: 'en' },
  phone: { width: 390, dir: 'ltr', language: 'en' },
  rtl: { width: 1000, dir: 'rtl', language: 'pseudo' },
  german: { width: 1000, dir: 'ltr', language: 'de' },
} as const satisfies Record<string, Variant>;
export type VariantName = keyof typeof VARIANTS;

export function isPage(example: Example): example is PageExample {
  return 'page' in example;
}

/** Whether it needs its own document. */
export function isAlone(example: Example): boolean {
  return isPage(example) || example.alone === true || example.act !== undefined;
}

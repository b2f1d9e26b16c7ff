import { type ReactNode, useEffect, useRef, useState } from 'react';
import { __, sprintf } from '../i18n/translate.js';
import { Button } from './button.js';
import { classes } from './dom.js';
import { Icon } from './icon.js';

/** How long a button shows that it has copied, milliseconds. */
const COPIED_MS = 2000;

interface Copy {
  /** Whether it has just copied. */
  readonly done: boolean;
  readonly copy: (text: string) => void;
}

/** Copies texts, and confirms it for 2 seconds. @param onRefused called if the browser does not allow it */
function useCopy(onRefused: () => void = () => {}): Copy {
  const [copied, setCopied] = useState<number | null>(null);

  useEffect(() => {
    if (copied === null) return;
    const timer = setTimeout(() => setCopied(null), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy(text: string): Promise<void> {
    if (await writeClipboard(text)) setCopied(Date.now());
    else onRefused();
  }

  return { done: copied !== null, copy: (text) => void copy(text) };
}

export interface CopyValueProps {
  readonly text: string;
  /** The text to copy. Default: `text`. */
  readonly copied?: string;
  /** A short name of the value: part of the button's name. */
  readonly label: string;
}

/** A value with a button that copies it. */
export function CopyValue({ text, copied = text, label }: CopyValueProps) {
  const field = useRef<HTMLSpanElement>(null);
  return (
    <span className="so-copy">
      <span ref={field} dir="ltr" className="so-mono">
        {text}
      </span>
      <CopyButton
        text={copied}
        label={label}
        onRefused={() => {
          // The owner can copy the selection.
          if (field.current !== null) window.getSelection()?.selectAllChildren(field.current);
        }}
      />
    </span>
  );
}

export interface CopyButtonProps {
  readonly text: string;
  /** A short name of the text: part of the button's name. */
  readonly label: string;
  readonly onRefused?: () => void;
}

/** An icon button that copies a text. For 2 seconds it shows a tick and "Copied". */
export function CopyButton({ text, label, onRefused }: CopyButtonProps) {
  const { done, copy } = useCopy(onRefused);
  return (
    <>
      <button
        type="button"
        className={classes('so-iconbtn', done && 'is-done')}
        /* translators: %s: what is copied, for example Login URL */
        aria-label={sprintf(__('Copy: %s', 'security-optimizer'), label)}
        onClick={() => copy(text)}
      >
        <Icon name={done ? 'check' : 'copy'} />
      </button>
      <CopiedStatus done={done} />
    </>
  );
}

/** A labelled button that copies a text; disabled without one. */
export function CopyTextButton({ text, children }: { readonly text: string | null; readonly children: ReactNode }) {
  const { done, copy } = useCopy();
  return (
    <>
      <Button disabled={text === null} onClick={() => text !== null && copy(text)}>
        {done ? __('Copied', 'security-optimizer') : children}
      </Button>
      <CopiedStatus done={done} />
    </>
  );
}

function CopiedStatus({ done }: Pick<Copy, 'done'>) {
  return (
    <span className="so-vh" role="status">
      {done ? __('Copied', 'security-optimizer') : ''}
    </span>
  );
}

/** Returns whether the text is in the clipboard. Without TLS browsers have no `navigator.clipboard`. */
async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('aria-hidden', 'true');
  area.style.position = 'fixed';
  area.style.opacity = '0';
  // A dialog traps the focus.
  (focused?.closest('[role="dialog"]') ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}

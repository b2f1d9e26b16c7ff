import { useEffect, useRef, useState } from 'react';
import { translate } from '../i18n/translate.js';
import { VALIDATION_DEBOUNCE_MS } from './timing.js';

/** Messages by field name. */
export type Messages = Readonly<Record<string, string>>;

export interface FormErrors {
  /** Messages to show, by field. */
  readonly shown: Messages;
  /** Marks a field as changed; its message appears after a pause. */
  readonly touch: (name: string) => void;
  /** Shows all messages and focuses the first invalid field. Returns whether the form is valid. */
  readonly check: () => boolean;
  /** Shows the server's messages until their fields change, and focuses the first of them. */
  readonly showServerErrors: (messages: Messages) => void;
  /** Resets the form: no field counts as changed. */
  readonly reset: () => void;
}

/**
 * Determines which messages of a form are visible. The message of a changed field appears after a pause in typing
 * (specification section 5) and disappears at once when the field is valid.
 *
 * @param errors errors of the current values, computed on each render
 * @param focusFirst focuses the first invalid field
 */
export function useFormErrors(errors: Messages, focusFirst: () => void): FormErrors {
  const [touched, setTouched] = useState<ReadonlySet<string> | 'all'>(new Set());
  const [settled, setSettled] = useState<Messages>({});
  const [server, setServer] = useState<Messages>({});
  const [focusRound, setFocusRound] = useState(0);
  const [changes, setChanges] = useState(0);
  const latest = useRef({ errors, touched, focusFirst });
  latest.current = { errors, touched, focusFirst };

  const key = JSON.stringify([errors, touched === 'all' ? null : Array.from(touched)]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of a field or an error restarts the pause
  useEffect(() => {
    const timer = setTimeout(() => {
      const now = latest.current;
      setSettled(Object.fromEntries(Object.entries(now.errors).filter(([name]) => isTouched(now.touched, name))));
    }, VALIDATION_DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [key, changes]);

  useEffect(() => {
    if (focusRound > 0) latest.current.focusFirst();
  }, [focusRound]);

  const shown: Record<string, string> = { ...server };
  for (const [name, message] of Object.entries(settled)) if (errors[name] !== undefined) shown[name] = message;

  return {
    shown,
    touch(name) {
      setChanges((count) => count + 1);
      setTouched((names) => (names === 'all' ? names : new Set([...Array.from(names), name])));
      setServer(({ [name]: _old, ...others }) => others);
    },
    check() {
      setTouched('all');
      setSettled(errors);
      if (Object.keys(errors).length === 0) return true;
      setFocusRound((round) => round + 1);
      return false;
    },
    showServerErrors(messages) {
      // Constant texts of the server are in English.
      setServer(Object.fromEntries(Object.entries(messages).map(([name, text]) => [name, translate(text)])));
      if (Object.keys(messages).length > 0) setFocusRound((round) => round + 1);
    },
    reset() {
      setTouched(new Set());
      setSettled({});
      setServer({});
    },
  };
}

function isTouched(touched: ReadonlySet<string> | 'all', name: string): boolean {
  return touched === 'all' || touched.has(name);
}

/** Focuses the first control that is marked as invalid. */
export function focusFirstError(within: Element | null): void {
  within?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]')?.focus();
}

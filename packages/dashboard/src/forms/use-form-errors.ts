import { VALIDATION_DEBOUNCE_MS } from '@security-optimizer/contract/limits';
import { useEffect, useRef, useState } from 'react';

/** Messages by the name of their field. */
export type Messages = Readonly<Record<string, string>>;

export interface FormErrors {
  /** What to show under each field. */
  readonly shown: Messages;
  /** Tells that a field was changed: its message follows after a pause. */
  readonly touch: (name: string) => void;
  /** Shows the messages of all fields; the focus goes to the first bad one. Says whether there was none. */
  readonly check: () => boolean;
  /** Shows what the server said about fields, until they are changed. The focus goes to the first of them. */
  readonly showServerErrors: (messages: Messages) => void;
  /** The form begins anew: nothing was changed yet. */
  readonly reset: () => void;
}

/**
 * Decides which messages of a form are on the screen. A message about a field that is being changed waits until
 * typing has paused (specification section 5), and leaves at once when the field is right.
 *
 * @param errors what is wrong with the present values; computed anew at each drawing
 * @param focusFirst puts the focus on the first field that is marked as bad
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change, of a field or of what is wrong, starts the pause anew
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
      setServer(messages);
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

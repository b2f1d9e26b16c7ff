import type { BlockedRow } from '@security-optimizer/contract/activity';
import { ROW_ANIMATION_MS } from '@security-optimizer/contract/limits';
import { useEffect, useRef, useState } from 'react';
import type { ApiCall } from '../../../api/send.js';
import { ignoreFailure } from '../../../options/use-changes.js';
import { useServices } from '../../../services.js';

/** How the unblocking of a row stands: under way, failed, or done and the row on its way out. */
export type UnblockState = 'pending' | 'failed' | 'leaving';

export interface Unblock {
  /** By the id of the row. */
  readonly states: Readonly<Record<string, UnblockState>>;
  /** @param next takes the focus when the row is gone */
  readonly start: (row: BlockedRow, next: HTMLElement | null) => void;
}

/** Unblocks rows, several at a time if need be. Each fades; then the list is read again. */
export function useUnblock(onDone: () => void): Unblock {
  const { run } = useServices();
  const [states, setStates] = useState<Readonly<Record<string, UnblockState>>>({});
  const latest = useRef({ onDone, mounted: true });
  latest.current.onDone = onDone;
  useEffect(() => {
    const current = latest.current;
    current.mounted = true;
    return () => {
      current.mounted = false;
    };
  }, []);

  function mark(id: string, state: UnblockState | null): void {
    setStates(({ [id]: _last, ...others }) => (state === null ? others : { ...others, [id]: state }));
  }

  function start(row: BlockedRow, next: HTMLElement | null): void {
    const state = states[row.id];
    if (state === 'pending' || state === 'leaving') return;
    mark(row.id, 'pending');
    run<unknown>({
      ...requestOf(row),
      onSuccess: () => {
        mark(row.id, 'leaving');
        next?.focus();
        setTimeout(() => {
          if (!latest.current.mounted) return;
          latest.current.onDone();
          // The same address may be blocked anew, and then stand there under the same id.
          mark(row.id, null);
        }, ROW_ANIMATION_MS);
      },
      onFailure: () => mark(row.id, 'failed'),
    }).catch(ignoreFailure);
  }

  return { states, start };
}

/** A lock by failed log-ins has no visitor; it is ended by its address. */
function requestOf({ type, user, visitor_id: id }: BlockedRow): { readonly name: string; readonly call: ApiCall } {
  if (type === 'user') return { name: 'blockUser', call: { suffix: `/block-user/${id}`, body: { block: 0 } } };
  if (id > 0) return { name: 'blockIp', call: { suffix: `/block-ip/${id}`, body: { block: 0 } } };
  return { name: 'loginUnblock', call: { suffix: '/login-unblock', body: { ip: user, block: 0 } } };
}

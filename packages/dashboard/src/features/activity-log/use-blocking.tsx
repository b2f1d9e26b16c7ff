import type { BlockDuration, CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import {
  blockAddresses,
  blockedUsers,
  blockIp,
  blockVisitors,
  loginUnblock,
} from '@security-optimizer/contract/activity/endpoints';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import { type ApiCall, SILENT, TRACKED, toCall } from '../../api/client.js';
import { type ApiError, ignoreApiError } from '../../api/envelope.js';
import { failureMessage, sessionMessage } from '../../api/outcome-messages.js';
import { invalidate } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Lazy } from '../../ui/lazy.js';
import { undoToast, useToasts } from '../../ui/toast-store.js';
import { useSiteClock } from '../settings/site-clock.js';
import { type BlockTarget, type BlockTerms, endText, noteBlockChange } from './blocks.js';
import { BLOCKED_COUNT_KEY } from './log-lists.js';

/** Prefix of the query keys of attackers. */
export const ATTACKERS_KEY = 'attackers';

export interface Blocking {
  /** Opens the block popover at an element. */
  readonly choose: (target: BlockTarget, anchor: HTMLElement) => void;
  /** Blocks without a popover. @returns null on success */
  readonly block: (target: BlockTarget, terms: BlockTerms) => Promise<ApiError | null>;
  /** @param row the changed element @returns null on success */
  readonly unblock: (target: BlockTarget, row?: Element | null) => Promise<ApiError | null>;
  /** Shows a failure as a toast, for callers without a place for it. */
  readonly showFailure: (change: Promise<ApiError | null>) => Promise<void>;
  /** The popover, to be rendered by the caller. */
  readonly popover: ReactNode;
}

/** The response to a request to block or unblock. */
interface BlockResponse {
  readonly visitor_id?: number;
  readonly current?: CurrentBlock | null;
  readonly done?: readonly { readonly visitor_id: number; readonly current: CurrentBlock | null }[];
  readonly refused?: readonly { readonly visitor_id: number; readonly reason: string }[];
}

interface Opened {
  readonly target: BlockTarget;
  readonly anchor: HTMLElement;
  readonly count: number;
}

const loadPopover = () => import('./block-popover.js');

/**
 * Blocks and unblocks visitors for all parts of the page: the rows of all lists change at once, and a toast offers
 * Undo.
 *
 * @param onChanged reloads a list that can't be updated without a request
 */
export function useBlocking(onChanged?: () => void): Blocking {
  const queries = useQueryClient();
  const { api, config } = useSite();
  const toasts = useToasts();
  const [opened, setOpened] = useState<Opened | null>(null);
  const clock = useSiteClock();
  const close = useCallback(() => setOpened(null), []);

  function changed(): void {
    void invalidate(queries, BLOCKED_COUNT_KEY);
    void invalidate(queries, [ATTACKERS_KEY]);
    onChanged?.();
  }

  /** Records the blocks in a response for all of its visitors. @returns end of the block of the first one */
  function note(target: BlockTarget, response: BlockResponse, assumed: CurrentBlock | null): CurrentBlock | null {
    const done = response.done?.map((item) => ({ ...item, name: toName(target, item.visitor_id) }));
    const all = done ?? [{ name: target.name, current: response.current }];
    for (const { name, current } of all) {
      const block = current === undefined ? assumed && { ...assumed, range: name } : current;
      const range = block?.range || (target.block?.range ?? '') || name;
      noteBlockChange(queries, range, block);
      if (range !== name) noteBlockChange(queries, name, block);
    }
    changed();
    const [first] = all;
    return first?.current === undefined ? assumed : first.current;
  }

  async function block(target: BlockTarget, terms: BlockTerms, row: Element | null = null) {
    const { duration, note: remark } = terms;
    try {
      const response = (await api.call<BlockResponse | null>(toBlockCall(target, terms), SILENT)).data ?? {};
      const until = duration === 0 ? null : Math.floor(Date.now() / 1000) + duration;
      const assumed = { by: 'owner' as const, by_login: '', until, note: remark, range: target.name };
      const current = note(target, response, assumed);
      const refused = response.refused?.length ?? 0;
      if (response.done?.length !== 0) {
        const undone = { ...target, visitorId: response.visitor_id ?? target.visitorId, block: current };
        const several = target.several?.filter(({ visitorId }) =>
          response.done?.some((item) => item.visitor_id === visitorId),
        );
        toasts.show(
          undoToast({
            title: blockedTitle(duration),
            text: blockedDetails(
              several === undefined ? [current?.range || target.name] : several.map(({ name }) => name),
              current?.until ?? null,
            ),
            undo: () => void lift(several === undefined ? undone : { ...undone, several }, target.block),
            about: row,
          }),
        );
      }
      if (refused > 0) {
        const text = sprintf(
          /* translators: 1: number of addresses, 2: why they were not blocked */
          _n(
            '%1$d address was not blocked. %2$s',
            '%1$d addresses were not blocked. %2$s',
            refused,
            'security-optimizer',
          ),
          refused,
          response.refused?.[0]?.reason ?? '',
        );
        toasts.show({ type: 'warning', text, autoClose: false });
      }
      return null;
    } catch (error) {
      return ignoreApiError(error) ?? (error as ApiError);
    }
  }

  function blockedDetails(names: readonly string[], until: number | null): string {
    const who =
      names.length === 1
        ? `\u2066${names[0]}\u2069`
        : /* translators: %d: number of addresses */
          sprintf(_n('%d address', '%d addresses', names.length, 'security-optimizer'), names.length);
    return until === null
      ? /* translators: %s: an address */
        sprintf(__('%s, until you unblock it', 'security-optimizer'), who)
      : /* translators: 1: an address, 2: day and time, for example "tomorrow, 14:35" */
        sprintf(__('%1$s, until %2$s', 'security-optimizer'), who, endText(until, clock));
  }

  /** Reverts a block, with the request's own toasts. @param before the previous block */
  async function lift(target: BlockTarget, before: CurrentBlock | null): Promise<void> {
    const response = await api.call<BlockResponse | null>(toUnblockCall(target), TRACKED).catch(ignoreApiError);
    if (response !== undefined) note({ ...target, block: target.block }, response.data ?? {}, before);
  }

  async function unblock(target: BlockTarget, row: Element | null = null) {
    const { block: held } = target;
    try {
      const found = await withVisitor(target);
      const response = (await api.call<BlockResponse | null>(toUnblockCall(found), SILENT)).data ?? {};
      const left = note(target, response, null);
      if (left !== null && held !== null && left.range !== held.range) {
        const text = sprintf(
          /* translators: %s: a network of addresses */
          __('The network %s is still blocked.', 'security-optimizer'),
          `\u2066${left.range}\u2069`,
        );
        toasts.show({ type: 'warning', text, autoClose: false });
        return null;
      }
      toasts.show(
        undoToast({
          title: __('Unblocked', 'security-optimizer'),
          text: `\u2066${held?.range || target.name}\u2069`,
          undo: () => void showFailure(block({ ...found, block: null }, toSameTerms(held, found))),
          about: row,
        }),
      );
      return null;
    } catch (error) {
      return ignoreApiError(error) ?? (error as ApiError);
    }
  }

  async function showFailure(change: Promise<ApiError | null>): Promise<void> {
    const failure = await change;
    if (failure === null) return;
    toasts.show(failure.kind === 'session_gone' ? sessionMessage(config.loginUrl) : failureMessage(failure, undefined));
  }

  /** A network is unblocked by its id in the list of blocked visitors. */
  async function withVisitor(target: BlockTarget): Promise<BlockTarget> {
    if (target.visitorId > 0 || target.several !== undefined || target.block?.by === 'lock') return target;
    const { data: list } = await api.call<{ entries?: { user?: string; visitor_id?: number }[] } | null>(
      toCall(blockedUsers, { page: 1 }),
      SILENT,
    );
    const range = target.block?.range || target.name;
    return { ...target, visitorId: list?.entries?.find(({ user }) => user === range)?.visitor_id ?? 0 };
  }

  return {
    choose: (target, anchor) => setOpened((before) => ({ target, anchor, count: (before?.count ?? 0) + 1 })),
    block,
    unblock,
    showFailure,
    popover:
      opened === null ? null : (
        <Lazy
          key={opened.count}
          load={loadPopover}
          props={{
            target: opened.target,
            anchor: opened.anchor,
            onBlock: (terms) => block(opened.target, terms, opened.anchor.closest('tr, li')),
            onClosed: close,
          }}
        >
          {null}
        </Lazy>
      ),
  };
}

function toName({ several, name }: BlockTarget, visitorId: number): string {
  return several?.find((item) => item.visitorId === visitorId)?.name ?? name;
}

function toBlockCall({ visitorId, name, several }: BlockTarget, { duration, note, scope }: BlockTerms): ApiCall {
  const terms = { block: 1 as const, duration, ...(note !== '' && { note }) };
  if (several !== undefined) {
    const ids = several.map((item) => item.visitorId);
    return toCall(blockVisitors, { ids, ...terms });
  }
  if (visitorId === 0) {
    const { block: _block, ...rest } = terms;
    return toCall(blockAddresses, { address: name, ...rest });
  }
  const isSingle = scope === 'address' && name.includes(':');
  return toCall(blockIp, {
    id: visitorId,
    ...terms,
    ...(scope === 'network' && { network: 1 }),
    ...(isSingle && { single: 1 }),
  });
}

function toUnblockCall({ visitorId, name, several, block }: BlockTarget): ApiCall {
  if (several !== undefined) {
    const ids = several.map((item) => item.visitorId);
    return toCall(blockVisitors, { ids, block: 0 });
  }
  if (block?.by === 'lock') return toCall(loginUnblock, { ip: name, block: 0 });
  return toCall(blockIp, { id: visitorId, block: 0 });
}

/** The durations that are at least as long as the remaining time of a block. */
export function toSameTerms(held: CurrentBlock | null, { name, visitorId }: BlockTarget): BlockTerms {
  const left = held === null || held.until === null ? null : held.until - Math.floor(Date.now() / 1000);
  const duration =
    left === null ? 0 : (([3600, 86_400, 604_800] as const).find((seconds) => seconds >= left) ?? 604_800);
  const isNetwork = visitorId > 0 && held !== null && held.range.includes('/') && !name.includes('/');
  return { duration, note: held?.note ?? '', scope: isNetwork ? 'network' : 'address' };
}

/** "Blocked for 24 hours" */
function blockedTitle(duration: BlockDuration): string {
  switch (duration) {
    case 3600:
      return __('Blocked for 1 hour', 'security-optimizer');
    case 86_400:
      return __('Blocked for 24 hours', 'security-optimizer');
    case 604_800:
      return __('Blocked for 7 days', 'security-optimizer');
    default:
      return __('Blocked for good', 'security-optimizer');
  }
}

import type { ServerText } from '@security-optimizer/contract/server-message';
import type { Transaction } from 'kysely';
import type { SiteId } from '../site.js';
import { type Database, inTransaction, withTables } from '../storage/database.js';
import { limitWaiting } from './alert-overflow.js';
import { DAY, MINUTE } from './alert-rules.js';
import type { AlertTables } from './alert-tables.js';

/**
 * An alert that was being sent for so long belongs to a process that has ended. Longer than any sender takes. It is not
 * sent again, because it may have arrived.
 */
const SENDING_MS = 10 * MINUTE;
/** Stored alerts that tell somebody that he gets fewer alerts. */
const LEAVING = '%"kind":"alerts-changed"%';
/** How long what was not delivered is shown. */
const LOSSES_MS = 7 * DAY;
const DONE_RETENTION_MS = 7 * DAY;

/** Rows of one INSERT; databases limit the number of its values. */
const INSERTED_ROWS = 500;

/** An alert to be queued. */
export interface NewAlert {
  /** Equal for the same event, which is queued once. */
  readonly uid: string;
  readonly kind: string;
  /** JSON. */
  readonly alert: string;
  readonly channels: readonly string[];
}

/** An alert in a channel's queue. */
export interface QueuedAlert {
  readonly uid: string;
  readonly kind: string;
  /** JSON. */
  readonly alert: string;
  readonly createdAt: number;
}

export interface ChannelState {
  readonly channel: string;
  readonly failures: number;
  readonly nextAt: number;
  /** When it was last tried; null if it was not yet, since it has its present target. */
  readonly lastAt: number | null;
  readonly answer: ServerText;
  /** Number of waiting alerts. */
  readonly waiting: number;
  /** What was not delivered in the last 7 days and is not tried again; null if there is nothing. */
  readonly lost: { readonly count: number; readonly reason: ServerText } | null;
}

/** Alerts of one kind of which only the number was kept. */
export interface Overflow {
  readonly kind: string;
  readonly count: number;
  /** When the first of them was queued. */
  readonly since: number;
}

/** What became of alerts that were tried. */
export type AlertEnd =
  | { readonly state: 'sent' }
  /** They were certainly not delivered and are tried again. */
  | { readonly state: 'waiting' }
  /** They were not delivered, or perhaps not, and are not tried again. */
  | { readonly state: 'failed'; readonly reason: ServerText };

/** Waiting alerts, and the state of the channels. Every method may throw StorageError. */
export type AlertQueue = ReturnType<typeof sqlAlertQueue>;

/** Stores alerts in SQL tables. A stored alert is on disk and survives the end of the process. */
export function sqlAlertQueue(database: Database) {
  const db = withTables<AlertTables>(database);
  return {
    /**
     * Adds alerts to channels, each at most once to a channel, in one transaction: a flood of events would otherwise
     * wait for the disk once for each.
     *
     * @param alerts oldest first; they keep this order
     */
    async add(site: SiteId, alerts: readonly NewAlert[], now: number): Promise<void> {
      if (alerts.length === 0) return;
      const rows = alerts.flatMap(({ channels, ...alert }, at) =>
        channels.map((channel) => ({
          ...{ site, channel, ...alert, state: 'waiting' as const },
          // A millisecond apart, because alerts are listed by their time. Never in the future, which means a wrong clock.
          ...{ created_at: now - (alerts.length - 1 - at), done_at: null },
        })),
      );
      await inTransaction(db, site, async (transaction) => {
        for (let at = 0; at < rows.length; at += INSERTED_ROWS) {
          await transaction
            .insertInto('alert_queue')
            .values(rows.slice(at, at + INSERTED_ROWS))
            .onConflict((conflict) => conflict.columns(['site', 'channel', 'uid']).doNothing())
            .execute();
        }
        for (const channel of new Set(rows.map((row) => row.channel))) await limitWaiting(transaction, site, channel);
      });
    },

    /** Returns the sites with waiting or interrupted alerts. */
    async listSites(): Promise<readonly SiteId[]> {
      const rows = await db
        .selectFrom('alert_queue')
        .select('site')
        .where('state', 'in', ['waiting', 'sending'])
        .distinct()
        .execute();
      return rows.map(({ site }) => site);
    },

    /** Returns the waiting alerts of a channel, oldest first. */
    async listWaiting(site: SiteId, channel: string): Promise<readonly QueuedAlert[]> {
      const rows = await db
        .selectFrom('alert_queue')
        .select(['uid', 'kind', 'alert', 'created_at'])
        .where('site', '=', site)
        .where('channel', '=', channel)
        .where('state', '=', 'waiting')
        .orderBy('created_at')
        .orderBy('uid')
        .execute();
      return rows.map(({ created_at, ...row }) => ({ ...row, createdAt: Number(created_at) }));
    },

    /** Returns when each alert was sent through a channel, from `since` on. Those of one message have the same time. */
    async listSentTimes(site: SiteId, channel: string, since: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('alert_queue')
        .select('done_at')
        .where('site', '=', site)
        .where('channel', '=', channel)
        .where('state', '=', 'sent')
        .where('done_at', '>=', since)
        .execute();
      return rows.map(({ done_at }) => Number(done_at));
    },

    /** Returns the numbers of alerts that were only counted, of a channel. */
    listOverflow(site: SiteId, channel: string): Promise<readonly Overflow[]> {
      return db
        .selectFrom('alert_overflow')
        .select(['kind', 'count', 'since'])
        .where('site', '=', site)
        .where('channel', '=', channel)
        .orderBy('since')
        .execute();
    },

    /**
     * Marks alerts as being sent, just before the first byte leaves.
     * @returns false, and marks none, if one of them is no longer waiting: another process sends it
     */
    async begin(site: SiteId, channel: string, uids: readonly string[], now: number): Promise<boolean> {
      return inTransaction(db, site, async (transaction) => {
        const rows = await transaction
          .selectFrom('alert_queue')
          .select('uid')
          .where('site', '=', site)
          .where('channel', '=', channel)
          .where('state', '=', 'waiting')
          .where('uid', 'in', [...uids])
          .execute();
        if (rows.length < uids.length) return false;
        await setState(transaction, { site, channel, uids, state: 'sending' }, now);
        return true;
      });
    },

    /**
     * Stores what became of alerts.
     * @param overflow the numbers that the message contained
     */
    async end(
      site: SiteId,
      channel: string,
      uids: readonly string[],
      end: AlertEnd,
      now: number,
      overflow: readonly Overflow[] = [],
    ): Promise<void> {
      await inTransaction(db, site, async (transaction) => {
        await setState(transaction, { site, channel, uids, state: end.state }, now);
        if (end.state === 'waiting') return;
        for (const { kind, count } of overflow) {
          await transaction
            .updateTable('alert_overflow')
            .set((row) => ({ count: row('count', '-', count), since: now }))
            .where('site', '=', site)
            .where('channel', '=', channel)
            .where('kind', '=', kind)
            .execute();
        }
        await transaction
          .deleteFrom('alert_overflow')
          .where('site', '=', site)
          .where('channel', '=', channel)
          .where('count', '<=', 0)
          .execute();
        if (end.state !== 'failed') return;
        const count = uids.length + overflow.reduce((sum, row) => sum + row.count, 0);
        await addLoss(transaction, site, channel, { count, reason: end.reason }, now);
      });
    },

    /**
     * Ends alerts that a process which has ended was sending. They may have arrived, so they are not sent again.
     * @returns their number, and when to look again if further alerts are being sent
     */
    async endInterrupted(
      site: SiteId,
      channel: string,
      reason: ServerText,
      now: number,
    ): Promise<{ readonly count: number; readonly next: number | null }> {
      return inTransaction(db, site, async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('alert_queue')
          .set({ state: 'failed' })
          .where('site', '=', site)
          .where('channel', '=', channel)
          .where('state', '=', 'sending')
          // A time in the future was stored before the clock was set back.
          .where((row) => row.or([row('done_at', '<', now - SENDING_MS), row('done_at', '>', now)]))
          .executeTakeFirstOrThrow();
        const count = Number(numUpdatedRows);
        if (count > 0) await addLoss(transaction, site, channel, { count, reason }, now);
        const { oldest } = await transaction
          .selectFrom('alert_queue')
          .select((expression) => expression.fn.min('done_at').as('oldest'))
          .where('site', '=', site)
          .where('channel', '=', channel)
          .where('state', '=', 'sending')
          .executeTakeFirstOrThrow();
        return { count, next: oldest === null ? null : Number(oldest) + SENDING_MS + 1 };
      });
    },

    /** Returns the channels with waiting alerts. */
    listWaitingChannels(): Promise<readonly { readonly site: SiteId; readonly channel: string }[]> {
      return db
        .selectFrom('alert_queue')
        .select(['site', 'channel'])
        .where('state', '=', 'waiting')
        .distinct()
        .execute();
    },

    /** Hands the alerts of an address to the one that replaces it, except that it gets no more. */
    async moveChannel(site: SiteId, from: string, to: string): Promise<void> {
      await inTransaction(db, site, async (transaction) => {
        await transaction
          .updateTable('alert_queue')
          .set({ channel: to })
          .where('site', '=', site)
          .where('channel', '=', from)
          .where('alert', 'not like', LEAVING)
          .execute();
        for (const table of ['alert_overflow', 'alert_losses'] as const) {
          await transaction
            .updateTable(table)
            .set({ channel: to })
            .where('site', '=', site)
            .where('channel', '=', from)
            .execute();
        }
      });
    },

    /** Deletes the waiting alerts that tell an address that it gets no more. */
    async dropLeaving(site: SiteId, channel: string): Promise<void> {
      await db
        .deleteFrom('alert_queue')
        .where('site', '=', site)
        .where('channel', '=', channel)
        .where('state', '=', 'waiting')
        .where('alert', 'like', LEAVING)
        .execute();
    },

    /** Deletes the alerts and the state of a channel that is no longer used. */
    async dropChannel(site: SiteId, channel: string): Promise<void> {
      for (const table of ['alert_queue', 'alert_channels', 'alert_overflow', 'alert_losses'] as const) {
        await db.deleteFrom(table).where('site', '=', site).where('channel', '=', channel).execute();
      }
    },

    /** Deletes the failures of a channel whose target has changed. Waiting alerts are sent to the new target. */
    async resetChannel(site: SiteId, channel: string): Promise<void> {
      for (const table of ['alert_channels', 'alert_losses'] as const) {
        await db.deleteFrom(table).where('site', '=', site).where('channel', '=', channel).execute();
      }
    },

    async setChannel(
      site: SiteId,
      channel: string,
      state: Pick<ChannelState, 'failures' | 'nextAt' | 'answer'> & { readonly lastAt: number },
    ): Promise<void> {
      const values = {
        ...{ failures: state.failures, next_at: state.nextAt, last_at: state.lastAt },
        answer: JSON.stringify(state.answer),
      };
      await db
        .insertInto('alert_channels')
        .values({ site, channel, ...values })
        .onConflict((conflict) => conflict.columns(['site', 'channel']).doUpdateSet(values))
        .execute();
    },

    /** Makes the failed channels of a site due at once. */
    async retryNow(site: SiteId, now: number): Promise<void> {
      await db
        .updateTable('alert_channels')
        .set({ next_at: now })
        .where('site', '=', site)
        .where('next_at', '>', now)
        .execute();
    },

    /** Returns the channels that were tried, in which alerts wait, or that lost alerts. */
    async listChannels(site: SiteId, now: number): Promise<readonly ChannelState[]> {
      const rows = await db.selectFrom('alert_channels').selectAll().where('site', '=', site).execute();
      const counts = await db
        .selectFrom('alert_queue')
        .select(['channel', (expression) => expression.fn.countAll<number>().as('count')])
        .where('site', '=', site)
        .where('state', '=', 'waiting')
        .groupBy('channel')
        .execute();
      const counted = await db
        .selectFrom('alert_overflow')
        .select(['channel', (expression) => expression.fn.sum<number>('count').as('count')])
        .where('site', '=', site)
        .groupBy('channel')
        .execute();
      const losses = await db
        .selectFrom('alert_losses')
        .select(['channel', 'at', 'count', 'reason'])
        .where('site', '=', site)
        .where('at', '>', now - LOSSES_MS)
        .orderBy('at', 'desc')
        .execute();
      const sum = (channel: string, list: readonly { readonly channel: string; readonly count: number }[]) =>
        list.filter((row) => row.channel === channel).reduce((total, { count }) => total + Number(count), 0);
      const names = new Set([...rows, ...counts, ...losses].map(({ channel }) => channel));
      return [...names].map((channel) => {
        const row = rows.find((item) => item.channel === channel);
        const latest = losses.find((item) => item.channel === channel);
        return {
          channel,
          failures: row?.failures ?? 0,
          nextAt: Number(row?.next_at ?? 0),
          lastAt: row === undefined ? null : Number(row.last_at),
          answer: row === undefined ? '' : (JSON.parse(row.answer) as ServerText),
          waiting: sum(channel, counts) + sum(channel, counted),
          lost:
            latest === undefined
              ? null
              : { count: sum(channel, losses), reason: JSON.parse(latest.reason) as ServerText },
        };
      });
    },

    /** Deletes alerts that were sent or given up after their retention time. */
    async prune(now: number): Promise<void> {
      await db
        .deleteFrom('alert_queue')
        .where('state', '!=', 'waiting')
        .where('done_at', '<', now - DONE_RETENTION_MS)
        .execute();
      await db
        .deleteFrom('alert_losses')
        .where('at', '<', now - LOSSES_MS)
        .execute();
    },

    /** Returns when guard last stored that it runs; null before the first time. */
    async readBeat(): Promise<number | null> {
      const row = await db.selectFrom('alert_heartbeat').select('at').where('id', '=', 1).executeTakeFirst();
      return row === undefined ? null : Number(row.at);
    },

    /** Stores that guard runs. */
    async beat(now: number): Promise<void> {
      await db
        .insertInto('alert_heartbeat')
        .values({ id: 1, at: now })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ at: now }))
        .execute();
    },

    /** Returns the stored settings of all sites, JSON. */
    async readSettings(): Promise<ReadonlyMap<SiteId, string>> {
      const rows = await db.selectFrom('alert_settings').selectAll().execute();
      return new Map(rows.map(({ site, value }) => [site, value]));
    },

    async writeSettings(site: SiteId, value: string): Promise<void> {
      await db
        .insertInto('alert_settings')
        .values({ site, value })
        .onConflict((conflict) => conflict.column('site').doUpdateSet({ value }))
        .execute();
    },
  };

  async function setState(
    transaction: Transaction<AlertTables>,
    alerts: {
      readonly site: SiteId;
      readonly channel: string;
      readonly uids: readonly string[];
      readonly state: AlertTables['alert_queue']['state'];
    },
    now: number,
  ): Promise<void> {
    const { site, channel, uids, state } = alerts;
    await transaction
      .updateTable('alert_queue')
      .set({ state, done_at: state === 'waiting' ? null : now })
      .where('site', '=', site)
      .where('channel', '=', channel)
      .where('uid', 'in', [...uids])
      .execute();
  }

  async function addLoss(
    transaction: Transaction<AlertTables>,
    site: SiteId,
    channel: string,
    { count, reason }: { readonly count: number; readonly reason: ServerText },
    now: number,
  ): Promise<void> {
    await transaction
      .insertInto('alert_losses')
      .values({ site, channel, at: now, count, reason: JSON.stringify(reason) })
      .onConflict((conflict) =>
        conflict
          .columns(['site', 'channel', 'at'])
          .doUpdateSet((row) => ({ count: row('alert_losses.count', '+', count) })),
      )
      .execute();
  }
}

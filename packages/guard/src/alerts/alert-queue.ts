import type { ServerText } from '@security-optimizer/contract/server-message';
import type { Kysely, Migration } from 'kysely';
import type { SettingsTables } from '../settings/settings-store.js';
import type { SiteId } from '../site.js';
import { type Database, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';
import { DAY, HOUR, type Lockout } from './alert-rules.js';

/** The tables of alerts. Times are milliseconds since the Unix epoch. */
export interface AlertTables {
  /** One row for each site whose owner has changed a setting. */
  alert_settings: { site: string; value: string };
  /** One row for each alert and channel. */
  alert_queue: {
    site: string;
    /** `webhook`, `slack`, `syslog`, or an e-mail address. */
    channel: string;
    uid: string;
    kind: string;
    /** The alert, JSON. */
    alert: string;
    /** `waiting`, `sent` or `failed`. */
    state: string;
    created_at: number;
    /** When it was sent or given up. All alerts of one message have the same time. */
    done_at: number | null;
  };
  /** State of each channel after its last attempt. */
  alert_channels: {
    site: string;
    channel: string;
    /** Consecutive failures. */
    failures: number;
    next_at: number;
    last_at: number;
    /** The response to the last attempt, JSON. */
    answer: string;
  };
  /** Lockouts that no reported wave contains. */
  alert_lockouts: { site: string; uid: string; at: number; address: string; failures: number };
  /** When the last wave was reported. */
  alert_waves: { site: string; at: number };
  /** Devices and networks that administrators logged in from. */
  alert_known_logins: { site: string; user_id: number; value: string; last_at: number };
}

const alertsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('alert_settings')
      .addColumn('site', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('alert_queue')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('alert', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('done_at', 'bigint')
      .addPrimaryKeyConstraint('alert_queue_key', ['site', 'channel', 'uid'])
      .execute();
    await db.schema
      .createTable('alert_channels')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('next_at', 'bigint', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .addColumn('answer', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_channels_key', ['site', 'channel'])
      .execute();
    await db.schema
      .createTable('alert_lockouts')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('uid', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_lockouts_key', ['site', 'uid'])
      .execute();
    await db.schema
      .createTable('alert_waves')
      .addColumn('site', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('alert_known_logins')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('user_id', 'bigint', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_known_logins_key', ['site', 'user_id', 'value'])
      .execute();
  },
};

/** The limit and the quiet hours became simple settings. The other values of a site stay where they are. */
const alertLimitsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const tables = db as Kysely<AlertTables & SettingsTables>;
    for (const { site, value } of await tables.selectFrom('alert_settings').selectAll().execute()) {
      const { perHour, quietHours } = parseLimits(value);
      const stored = { alert_limit: perHour, alert_quiet_hours: quietHours === true ? 1 : undefined };
      for (const [name, number] of Object.entries(stored)) {
        if (number === undefined) continue;
        const row = { site, name, value: JSON.stringify(number), version: 1, updated_at: 0 };
        await tables.insertInto('settings').values(row).execute();
      }
    }
  },
};

/** Reads stored settings. Of an unknown form, they are reported when guard reads them. */
function parseLimits(value: string): { readonly perHour?: number; readonly quietHours?: boolean } {
  try {
    const { perHour, quietHours } = JSON.parse(value);
    return { ...([2, 4, 10].includes(perHour) && { perHour }), quietHours };
  } catch {
    return {};
  }
}

export const alertMigrations: Migrations = {
  '040_alerts': alertsMigration,
  '045_alert_limits': alertLimitsMigration,
};

/** Waiting alerts of one channel. When there are more, the oldest are deleted; urgent ones are deleted last. */
const WAITING_MAX = 200;
/** Lockouts read for one site; a wave counts no more than these. */
const LOCKOUTS_MAX = 5000;
const DONE_RETENTION_MS = 7 * DAY;
const LOGIN_RETENTION_MS = 400 * DAY;
/** Devices and networks read for one administrator. */
const LOGINS_MAX = 100;

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
  readonly lastAt: number;
  readonly answer: ServerText;
  /** Number of waiting alerts. */
  readonly waiting: number;
}

/** Waiting alerts, and the state of the channels. Every method may throw StorageError. */
export type AlertQueue = ReturnType<typeof sqlAlertQueue>;

/** Stores alerts in SQL tables. A stored alert is on disk and survives the end of the process. */
export function sqlAlertQueue(database: Database) {
  const db = withTables<AlertTables>(database);
  return {
    /**
     * Adds an alert to channels, at most once to each.
     * @returns whether it was new in at least one channel
     */
    async add(
      site: SiteId,
      channels: readonly string[],
      alert: { readonly uid: string; readonly kind: string; readonly alert: string },
      now: number,
    ): Promise<boolean> {
      let added = 0n;
      for (const channel of channels) {
        const { numInsertedOrUpdatedRows } = await db
          .insertInto('alert_queue')
          .values({ site, channel, ...alert, state: 'waiting', created_at: now, done_at: null })
          .onConflict((conflict) => conflict.columns(['site', 'channel', 'uid']).doNothing())
          .executeTakeFirstOrThrow();
        added += numInsertedOrUpdatedRows ?? 0n;
        const waiting = await countWaiting(site, channel);
        if (waiting > WAITING_MAX) await dropOldest(site, channel, waiting - WAITING_MAX);
      }
      return added > 0n;
    },

    /** Returns the sites with waiting alerts, or with lockouts that may be a wave. */
    async listSites(): Promise<ReadonlySet<SiteId>> {
      const waiting = await db
        .selectFrom('alert_queue')
        .select('site')
        .where('state', '=', 'waiting')
        .distinct()
        .execute();
      const locked = await db.selectFrom('alert_lockouts').select('site').distinct().execute();
      return new Set([...waiting, ...locked].map(({ site }) => site));
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

    /** Returns when messages were sent through a channel, from `since` on. */
    async listSentTimes(site: SiteId, channel: string, since: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('alert_queue')
        .select('done_at')
        .where('site', '=', site)
        .where('channel', '=', channel)
        .where('state', '=', 'sent')
        .where('done_at', '>=', since)
        .distinct()
        .execute();
      return rows.map(({ done_at }) => Number(done_at));
    },

    async end(
      site: SiteId,
      channel: string,
      uids: readonly string[],
      state: 'sent' | 'failed',
      now: number,
    ): Promise<void> {
      await db
        .updateTable('alert_queue')
        .set({ state, done_at: now })
        .where('site', '=', site)
        .where('channel', '=', channel)
        .where('uid', 'in', [...uids])
        .execute();
    },

    /** Deletes the alerts and the state of a channel that is no longer used. */
    async dropChannel(site: SiteId, channel: string): Promise<void> {
      for (const table of ['alert_queue', 'alert_channels'] as const) {
        await db.deleteFrom(table).where('site', '=', site).where('channel', '=', channel).execute();
      }
    },

    /** Deletes the failures of a channel whose target has changed. Waiting alerts are sent to the new target. */
    async resetChannel(site: SiteId, channel: string): Promise<void> {
      await db.deleteFrom('alert_channels').where('site', '=', site).where('channel', '=', channel).execute();
    },

    async setChannel(site: SiteId, channel: string, state: Omit<ChannelState, 'channel' | 'waiting'>): Promise<void> {
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

    async listChannels(site: SiteId): Promise<readonly ChannelState[]> {
      const rows = await db.selectFrom('alert_channels').selectAll().where('site', '=', site).execute();
      const counts = await db
        .selectFrom('alert_queue')
        .select(['channel', (expression) => expression.fn.countAll<number>().as('count')])
        .where('site', '=', site)
        .where('state', '=', 'waiting')
        .groupBy('channel')
        .execute();
      return rows.map((row) => ({
        channel: row.channel,
        failures: row.failures,
        nextAt: Number(row.next_at),
        lastAt: Number(row.last_at),
        answer: JSON.parse(row.answer) as ServerText,
        waiting: Number(counts.find(({ channel }) => channel === row.channel)?.count ?? 0),
      }));
    },

    /** Stores a lockout until it belongs to a wave or is too old. */
    async addLockout(site: SiteId, lockout: Lockout): Promise<void> {
      await db
        .insertInto('alert_lockouts')
        .values({ site, ...lockout })
        .onConflict((conflict) => conflict.columns(['site', 'uid']).doNothing())
        .execute();
    },

    /** Returns the lockouts of the last three hours that belong to no wave, oldest first. Deletes older ones. */
    async listLockouts(site: SiteId, now: number): Promise<readonly Lockout[]> {
      await db
        .deleteFrom('alert_lockouts')
        .where('site', '=', site)
        .where((row) => row.or([row('at', '<', now - 3 * HOUR), row('at', '>', now + HOUR)]))
        .execute();
      const rows = await db
        .selectFrom('alert_lockouts')
        .select(['uid', 'at', 'address', 'failures'])
        .where('site', '=', site)
        .orderBy('at')
        .limit(LOCKOUTS_MAX)
        .execute();
      return rows.map((row) => ({ ...row, at: Number(row.at) }));
    },

    async lastWave(site: SiteId): Promise<number | null> {
      const row = await db.selectFrom('alert_waves').select('at').where('site', '=', site).executeTakeFirst();
      return row === undefined ? null : Number(row.at);
    },

    /** Deletes the lockouts of a wave that was added to the queue. */
    async endWave(site: SiteId, until: number, now: number): Promise<void> {
      await db.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('alert_lockouts').where('site', '=', site).where('at', '<=', until).execute();
        await transaction
          .insertInto('alert_waves')
          .values({ site, at: now })
          .onConflict((conflict) => conflict.column('site').doUpdateSet({ at: now }))
          .execute();
      });
    },

    /**
     * Stores the devices and networks of a login.
     * @returns the values that were unknown; null at the first login of the administrator, when nothing counts as new
     */
    recordLogin(site: SiteId, user: number, values: readonly string[], now: number): Promise<readonly string[] | null> {
      return db.transaction().execute(async (transaction) => {
        const rows = await transaction
          .selectFrom('alert_known_logins')
          .select('value')
          .where('site', '=', site)
          .where('user_id', '=', user)
          .where('last_at', '>', now - LOGIN_RETENTION_MS)
          .orderBy('last_at', 'desc')
          .limit(LOGINS_MAX)
          .execute();
        const known = new Set(rows.map(({ value }) => value));
        for (const value of values) {
          await transaction
            .insertInto('alert_known_logins')
            .values({ site, user_id: user, value, last_at: now })
            .onConflict((conflict) => conflict.columns(['site', 'user_id', 'value']).doUpdateSet({ last_at: now }))
            .execute();
        }
        return known.size === 0 ? null : values.filter((value) => !known.has(value));
      });
    },

    /** Deletes alerts that were sent or given up, and logins, after their retention time. */
    async prune(now: number): Promise<void> {
      await db
        .deleteFrom('alert_queue')
        .where('state', '!=', 'waiting')
        .where('done_at', '<', now - DONE_RETENTION_MS)
        .execute();
      await db
        .deleteFrom('alert_known_logins')
        .where('last_at', '<', now - LOGIN_RETENTION_MS)
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

  async function countWaiting(site: SiteId, channel: string): Promise<number> {
    const { count } = await db
      .selectFrom('alert_queue')
      .select((expression) => expression.fn.countAll<number>().as('count'))
      .where('site', '=', site)
      .where('channel', '=', channel)
      .where('state', '=', 'waiting')
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  async function dropOldest(site: SiteId, channel: string, max: number): Promise<void> {
    const rows = await db
      .selectFrom('alert_queue')
      .select('uid')
      .where('site', '=', site)
      .where('channel', '=', channel)
      .where('state', '=', 'waiting')
      .orderBy((row) => row.case().when('kind', '=', 'new-administrator').then(1).else(0).end())
      .orderBy('created_at')
      .limit(max)
      .execute();
    if (rows.length === 0) return;
    await db
      .deleteFrom('alert_queue')
      .where('site', '=', site)
      .where('channel', '=', channel)
      .where(
        'uid',
        'in',
        rows.map(({ uid }) => uid),
      )
      .execute();
  }
}

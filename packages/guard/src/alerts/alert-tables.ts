import type { Kysely, Migration } from 'kysely';
import type { SettingsTables } from '../settings/settings-store.js';
import type { Migrations } from '../storage/migrations.js';

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
    /** `waiting`; `sending` from just before its first byte leaves; `sent`; `failed` when it is not tried again. */
    state: 'waiting' | 'sending' | 'sent' | 'failed';
    created_at: number;
    /** When it got its state, if it is not waiting. All alerts of one message have the same time. */
    done_at: number | null;
  };
  /** Alerts beyond the maximum of a channel, of which only the number is kept. The next message contains it. */
  alert_overflow: { site: string; channel: string; kind: string; count: number; since: number };
  /** Alerts that were not delivered, or perhaps not, and are not tried again; `reason` is JSON. */
  alert_losses: { site: string; channel: string; at: number; count: number; reason: string };
  /** When guard last ran: one row. */
  alert_heartbeat: { id: number; at: number };
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

/** What is being sent, what was only counted, what was not delivered, and when guard last ran. */
const alertDeliveryMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createIndex('alert_queue_by_state')
      .on('alert_queue')
      .columns(['site', 'channel', 'state', 'created_at'])
      .execute();
    await db.schema
      .createTable('alert_overflow')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addColumn('since', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_overflow_key', ['site', 'channel', 'kind'])
      .execute();
    await db.schema
      .createTable('alert_losses')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_losses_key', ['site', 'channel', 'at'])
      .execute();
    await db.schema
      .createTable('alert_heartbeat')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};

export const alertMigrations: Migrations = {
  '040_alerts': alertsMigration,
  '045_alert_limits': alertLimitsMigration,
  '046_alert_delivery': alertDeliveryMigration,
};

import { randomBytes } from 'node:crypto';
import type { FakeConnector } from './fake-connector.js';

/** A row of the outbox; anything but `uid` may be broken. */
export interface FakeEvent {
  readonly uid: string;
  readonly [field: string]: unknown;
}

/** Something that a user did just now, as WordPress reports it. */
export function fakeEvent(change: Omit<Partial<FakeEvent>, 'uid'> = {}): FakeEvent {
  return {
    uid: randomBytes(16).toString('hex'),
    at: Math.floor(Date.now() / 1000),
    kind: 'post.updated',
    user: { id: 2, login: 'editor' },
    address: '198.51.100.77',
    origin: 'web',
    object: { type: 'post', id: '1', name: 'Hello' },
    before: null,
    after: null,
    ...change,
  };
}

/** The fake connector's commands of docs/activity-log.md. @returns null for any other */
export function runActivityCommand(fake: FakeConnector, command: string, body: Record<string, unknown>): object | null {
  switch (command) {
    case 'events': {
      const { ack, limit } = body as { ack: string[]; limit: number };
      fake.drains.push({ ack, limit });
      fake.outbox = fake.outbox.filter(({ uid }) => !ack.includes(uid));
      const events = fake.outbox.slice(0, limit).map((row, index) => ({ id: index + 1, ...row }));
      const held = fake.held === null ? {} : { held: fake.held };
      const names = typeof fake.names.names === 'string' ? { names: fake.names.names } : {};
      return { events, more: fake.outbox.length > limit, ...held, ...names };
    }
    case 'users-info': {
      const all = [...fake.members].map(([id, { login, administrator }]) => ({
        id,
        login,
        roles: [administrator ? 'administrator' : 'editor'],
        can_manage: administrator,
      }));
      const { users, search = '', limit = 20 } = body as { users?: number[]; search?: string; limit?: number };
      const found = users
        ? all.filter(({ id }) => users.includes(id))
        : all.filter(({ login }) => login.includes(search)).slice(0, limit);
      const blocked = String(fake.policy?.policy.blocked_users ?? '').split(',');
      const free = all.filter(({ id, can_manage }) => can_manage && !blocked.includes(String(id)));
      return { users: found, administrators: free.length };
    }
    case 'send-mail':
      if (fake.mailFault !== null) return { code: 'not_sent', message: fake.mailFault };
      fake.mails.push(body);
      return { sent: true };
    default:
      return null;
  }
}

import { expect, onTestFinished } from 'vitest';
import type { TestDatabase } from './database.js';
import { openTestDatabase } from './database.js';
import { fakeConnector } from './fake-connector.js';
import { callApi, dataFolderFor, runningGuard } from './running-guard.js';
import { eventually } from './scratch.js';

/** Guard, the fake WordPress, and a second look into guard's database. */
export async function loginSite() {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector);
  const guard = await runningGuard(dataDir);
  await eventually(() => connector.policy !== null);
  const db: TestDatabase = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  const call = async (suffix: string, body?: unknown, options: { method?: string } = {}) => {
    const { http, body: answer } = await callApi(guard.url, suffix, {
      ...(options.method && { method: options.method }),
      body: body === undefined ? null : JSON.stringify(body),
    });
    expect(http).toBe(answer.status);
    return answer as { status: number; data: Record<string, unknown>; message: string; code?: string; fields?: object };
  };
  const options = async () => (await call('/fetch-options', { page: 'login' })).data;
  const audited = async () =>
    (await db.selectFrom('audit').selectAll().orderBy('at').execute()).map((row) => [
      row.name,
      row.before,
      row.after,
      row.actor_login,
    ]);
  return { connector, guard, db, call, options, audited };
}

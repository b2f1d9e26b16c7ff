import { describe, expect, it } from 'vitest';
import { settingPaths } from './endpoints.js';
import { siteSecurityToggles } from './protections.js';
import { loginRows, logRows, type SettingRow, securityRows, weeklyCheckupRow } from './setting-rows.js';

const rows: readonly SettingRow[] = [...securityRows, ...loginRows, ...logRows, weeklyCheckupRow];

describe('the rows of the dashboard', () => {
  it('contain every setting that has an endpoint of its own', () => {
    const fields = [...siteSecurityToggles.map(({ field }) => field), ...Object.keys(settingPaths)];
    expect(rows.map(({ field }) => field)).toEqual(expect.arrayContaining(fields));
  });

  it('change each setting by the request of its name', () => {
    expect(rows.map(({ endpoint }) => endpoint.name)).toEqual(rows.map(({ field }) => `update:${field}`));
  });

  it('offer to undo what switches a protection off, and nothing else', () => {
    const undone = (field: string, before: number, after: number) =>
      rows.find((row) => row.field === field)?.offersUndo?.(before, after) ?? false;
    expect([undone('xss_protection', 1, 0), undone('xss_protection', 0, 1)]).toEqual([true, false]);
    expect([undone('disable_activity_log', 0, 1), undone('disable_activity_log', 1, 0)]).toEqual([true, false]);
    expect([undone('login_attempts', 3, 5), undone('login_attempts', 5, 0)]).toEqual([true, true]);
    expect([undone('login_attempts', 5, 3), undone('login_attempts', 0, 5)]).toEqual([false, false]);
    expect([undone('log_lifetime', 12, 8), undone('log_lifetime', 8, 12)]).toEqual([true, false]);
    expect(undone('log_own_cron', 1, 0)).toBe(false);
  });
});

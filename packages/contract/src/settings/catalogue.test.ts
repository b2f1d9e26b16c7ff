import { describe, expect, it } from 'vitest';
import {
  alertRows,
  allowedValues,
  allSimpleSettings,
  loginRows,
  logRows,
  postHackRows,
  type SettingRow,
  securityRows,
} from './catalogue.js';

const rows: readonly SettingRow[] = [...securityRows, ...loginRows, ...logRows, ...alertRows, ...postHackRows];

describe('the catalogue of simple settings', () => {
  it('has a default that is allowed, for every setting', () => {
    for (const setting of allSimpleSettings) expect(allowedValues(setting), setting.field).toContain(setting.default);
  });

  it('has no name, path or hash twice', () => {
    const names = [
      ...allSimpleSettings.flatMap(({ field, suffix }) => [field, suffix ?? field]),
      ...rows.flatMap(({ anchor }) => (anchor === undefined ? [] : [`#${anchor}`])),
    ];
    const withoutPath = allSimpleSettings.filter(({ suffix }) => suffix === undefined).length;
    expect(new Set(names).size).toBe(names.length - withoutPath);
  });
});

describe('the rows of the dashboard', () => {
  it('contain every setting that has an endpoint, except the one beside XML-RPC', () => {
    const fields = allSimpleSettings.filter(({ suffix }) => suffix !== undefined).map(({ field }) => field);
    expect([...rows.map(({ field }) => field), 'signed_xml_rpc'].sort()).toEqual(fields.sort());
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

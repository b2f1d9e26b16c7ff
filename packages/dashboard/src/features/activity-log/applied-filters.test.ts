import { logDropdowns } from '@security-optimizer/contract/activity/log-address';
import { describe, expect, it } from 'vitest';
import type { DateFormats } from '../../i18n/date-formats.js';
import { fromLogView, NO_FILTERS, toLogView } from './applied-filters.js';

describe('the filters of the URL', () => {
  it.each(Object.values(logDropdowns).flat())('contain the drop-down %s, so that Apply and reload keep it', (name) => {
    const choice = { group: name, child: name, name: '', value: 12, text: '12' };
    const view = toLogView({ ...NO_FILTERS, choices: [choice] });
    const { choices } = fromLogView({ tab: 'registered', ...view }, 'UTC', {} as DateFormats);
    expect(choices.map(({ group, value }) => [group, String(value)])).toEqual([[name, '12']]);
  });
});

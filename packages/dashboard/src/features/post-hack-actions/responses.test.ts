import { describe, expect, it } from 'vitest';
import { sampleCheckup, sampleFinding, sampleResult } from '../../../test/fake-site/checkup.js';
import { sampleItem, sampleJob } from '../../../test/fake-site/jobs.js';
import { checkupSource } from './checkup-data.js';
import { readPostHack, readStartedJob } from './post-hack-jobs.js';

const UNKNOWN = { plugins: null, users: null, sessions: null };

describe('the jobs of a response', () => {
  it('are read with the facts', () => {
    const facts = { plugins: 3, users: 2, sessions: null };
    expect(readPostHack({ jobs: [sampleJob()], facts })).toEqual({ jobs: [sampleJob()], facts });
  });

  it.each([
    ['nothing', {}],
    ['other types', { jobs: 'none', facts: 7 }],
    ['an error of another plugin', { code: 'x', message: 'y' }],
  ])('are none, and the facts unknown, for %s', (_title, data) => {
    expect(readPostHack(data)).toEqual({ jobs: [], facts: UNKNOWN });
  });

  it('lose only the broken ones', () => {
    const jobs = [null, { id: 'two' }, sampleJob({ kind: 'pause' as never }), sampleJob({ state: 'lost' as never })];
    expect(readPostHack({ jobs: [...jobs, sampleJob()] }).jobs).toEqual([sampleJob()]);
  });

  it('are complete without the fields that an older server lacks', () => {
    const { items: _items, summary: _summary, error: _error, ...older } = sampleJob();
    expect(readPostHack({ jobs: [older] }).jobs).toEqual([sampleJob()]);
  });

  it('lose only their broken items, and name one without a name by its id', () => {
    const items = [sampleItem('forms'), { id: 'x', state: 'vanished' }, sampleItem('shop', { name: '' })];
    const [job] = readPostHack({ jobs: [sampleJob({ items: items as never })] }).jobs;
    expect(job?.items.map(({ name }) => name)).toEqual(['forms', 'shop/shop.php']);
  });

  it.each([[null], [{}], [{ job: {} }], [[]]])('have none that was started in %j', (data) => {
    expect(readStartedJob(data)).toBeNull();
  });
});

describe('the checkup of a response', () => {
  it('is read as it is', () => {
    const { weekly_checkup } = sampleCheckup().weekly;
    expect(checkupSource.read(sampleCheckup())).toEqual({ ...sampleCheckup(), weekly_checkup });
  });

  it('has only the weekly switch after a change of it', () => {
    expect(checkupSource.read({ weekly_checkup: 0 })).toEqual({ weekly_checkup: 0 });
  });

  it.each([[null], ['<html>'], [[]]])('is unknown for %j', (data) => {
    expect(checkupSource.read(data)).toEqual({});
  });

  it('has nothing to show of what a server does not send', () => {
    expect(checkupSource.read({ latest: { at: 1 } })).toEqual({
      running: null,
      error: '',
      latest: { at: 1, checks: [], findings: [], kept: [], notes: [] },
      earlier: [],
      more: 0,
      removed: [],
      weekly: { weekly_checkup: 0, day: 0, time: '', emails: [] },
      weekly_checkup: 0,
    });
  });

  it('has findings without a button to remove them from a server that can’t', () => {
    const { remove: _remove, files: _files, ...older } = sampleFinding();
    const known = { ...sampleCheckup(), latest: { ...sampleResult(), findings: [older] } };
    expect(checkupSource.read(known).latest?.findings).toEqual([{ ...older, remove: '', files: [] }]);
  });

  it('keeps its findings beside a broken one and one of an unknown check', () => {
    const findings = [sampleFinding({ key: 'a' }), 'x', sampleFinding({ check: 'themes' as never }), { key: 'b' }];
    const { latest } = checkupSource.read({ ...sampleCheckup(), latest: { ...sampleResult(), findings } });
    expect(latest?.findings.map(({ key }) => key)).toEqual(['a']);
  });
});

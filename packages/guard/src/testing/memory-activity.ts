import type {
  ActivityStore,
  EventFilter,
  EventRow,
  NewEvent,
  VisitFilter,
  VisitRow,
} from '../activity/activity-store.js';

/** A visit as a test writes it; what is left out does not matter to it. */
export type TestVisit = Partial<VisitRow> & { readonly at: number };

/**
 * The part of the activity store that lists need, over two plain lists in memory, newest last. Every question is
 * answered by looking at every row, so that a test can compare clever code with it.
 */
export function memoryActivity(visits: readonly TestVisit[] = [], events: readonly NewEvent[] = []) {
  const visitRows: VisitRow[] = [];
  const eventRows: (EventRow & { readonly uid: string })[] = [];
  let counting = 0;

  function addVisit(visit: TestVisit): void {
    visitRows.push({
      address: '192.0.2.1',
      hostname: null,
      visitorId: 1,
      type: 'Human',
      target: '/',
      status: 200,
      rule: null,
      count: 1,
      ...visit,
      id: visitRows.length + 1,
    });
  }
  function addEvent({ user, ...event }: NewEvent): void {
    if (eventRows.some(({ uid }) => uid === event.uid)) return;
    const userId = user?.id ?? 0;
    const login = user?.login ?? '';
    eventRows.push({ ...event, userId, login, visitorId: userId, hostname: null, id: eventRows.length + 1 });
  }
  for (const visit of visits) addVisit(visit);
  for (const event of events) addEvent(event);

  const matchingVisits = (filter: VisitFilter, anchor: number | null) =>
    visitRows.filter((row) => row.id <= (anchor ?? row.id) && matchesVisit(row, filter)).reverse();
  const matchingEvents = (filter: EventFilter, anchor: number | null) =>
    eventRows.filter((row) => row.id <= (anchor ?? row.id) && matchesEvent(row, filter)).reverse();
  const cut = <Row extends { readonly id: number }>(
    rows: readonly Row[],
    before: number | null,
    skip: number,
    limit: number,
  ) => rows.filter(({ id }) => id < (before ?? Number.POSITIVE_INFINITY)).slice(skip, skip + limit);

  const store = {
    newestVisit: async () => visitRows.length,
    listVisits: async ({ filter, anchor, before, skip, limit }) =>
      cut(matchingVisits(filter, anchor), before, skip, limit),
    async countVisits(_site, filter, anchor) {
      counting++;
      return { rows: matchingVisits(filter, anchor).length, exact: true };
    },
    newVisits: async (_site, filter, since, most) =>
      Math.min(matchingVisits(filter, null).filter(({ id }) => id > since).length, most),
    newestEvent: async () => eventRows.length,
    listEvents: async ({ filter, anchor, before, skip, limit }) =>
      cut(matchingEvents(filter, anchor), before, skip, limit),
    countEvents: async (_site, filter, anchor) => ({ rows: matchingEvents(filter, anchor).length, exact: true }),
    async writeEvents(_site, added) {
      for (const event of added) addEvent(event);
    },
    async options(_site, filter, search, most) {
      const values =
        filter === 'user'
          ? eventRows.map((row) => ({ label: row.login, value: String(row.visitorId) }))
          : filter === 'activity'
            ? eventRows.map((row) => ({ label: row.kind, value: row.kind }))
            : visitRows.map((row) => {
                const value = { type: row.type, code: String(row.status), ip: row.address }[filter];
                return { label: value, value };
              });
      return mostFrequent(values)
        .filter(({ label }) => label.includes(search))
        .slice(0, most);
    },
    visitor: async (_site, id) => {
      const row = eventRows.find(({ visitorId }) => visitorId === id);
      if (row === undefined) return null;
      return {
        id,
        kind: 'user',
        name: row.login,
        userId: row.userId,
        hostname: null,
        verifiedBot: null,
        firstSeen: row.at,
        lastSeen: row.at,
      };
    },
  } satisfies Partial<ActivityStore>;

  return { store, addVisit, addEvent, events: eventRows, counts: () => counting };
}

function matchesVisit(row: VisitRow, { from, to, type, code }: VisitFilter): boolean {
  return (
    row.at >= (from ?? row.at) &&
    row.at <= (to ?? row.at) &&
    row.type === (type ?? row.type) &&
    row.status === (code ?? row.status)
  );
}

function matchesEvent(row: EventRow, { from, to, user, activity }: EventFilter): boolean {
  return (
    row.at >= (from ?? row.at) &&
    row.at <= (to ?? row.at) &&
    row.visitorId === (user ?? row.visitorId) &&
    row.kind === (activity ?? row.kind)
  );
}

function mostFrequent<Value extends { readonly value: string }>(values: readonly Value[]): Value[] {
  const counts = new Map<string, { entry: Value; count: number }>();
  for (const entry of values) {
    const known = counts.get(entry.value);
    if (known) known.count++;
    else counts.set(entry.value, { entry, count: 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count).map(({ entry }) => entry);
}

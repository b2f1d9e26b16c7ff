import type { Measure } from '../measure.js';
import { refusals } from './p1-refusals.js';
import { allowedRequests } from './p2-allowed-requests.js';
import { activityLists } from './p3-activity-lists.js';
import { busyLog } from './p4-busy-log.js';
import { guessing } from './p5-guessing.js';
import { memory } from './p6-memory.js';
import { dashboard } from './p7-dashboard.js';
import { starts } from './p8-start.js';
import { manySites } from './p9-many-sites.js';
import { processes } from './p10-processes.js';

/** All measures, in the order in which they run. */
export const measures: readonly Measure[] = [
  refusals,
  allowedRequests,
  activityLists,
  busyLog,
  guessing,
  memory,
  dashboard,
  starts,
  manySites,
  processes,
];

import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { logRows } from '../settings/catalogue.js';
import { settingEndpoints } from '../settings/endpoints.js';
import { flag } from '../shapes.js';
import { attackersSchema, requestDetailsSchema } from './attackers.js';
import { currentBlock } from './blocks.js';
import {
  blockedList,
  filterOption,
  lifetimePreviewSchema,
  recipientsSchema,
  registeredList,
  trafficSchema,
  unknownList,
  visitorStatusSchema,
} from './schemas.js';

export const activityUnknown = endpoint({
  name: 'activityUnknown',
  suffix: '/activity-unknown',
  methods: ['POST', 'GET'],
  response: unknownList,
});

export const registeredActivity = endpoint({
  name: 'registeredActivity',
  suffix: '/activity-registered',
  methods: ['POST', 'GET'],
  response: registeredList,
});

export const blockedUsers = endpoint({
  name: 'blockedUsers',
  suffix: '/blocked-users',
  methods: ['POST', 'GET'],
  response: blockedList,
});

export const searchActivityFilter = endpoint({
  name: 'searchActivityFilter',
  suffix: '/activity-options',
  methods: ['POST', 'GET'],
  response: z.object({ options: z.array(filterOption) }),
});

export const activityNews = endpoint({
  name: 'activityNews',
  suffix: '/activity-new',
  methods: ['POST', 'GET'],
  response: z.object({ count: z.int() }),
});

export const activityTraffic = endpoint({
  name: 'activityTraffic',
  suffix: '/activity-traffic',
  methods: ['POST', 'GET'],
  response: trafficSchema,
});

export const activityAttackers = endpoint({
  name: 'activityAttackers',
  suffix: '/activity-attackers',
  methods: ['POST', 'GET'],
  response: attackersSchema,
});

export const activityRequest = endpoint({
  name: 'activityRequest',
  suffix: '/activity-request/{id}',
  methods: ['GET', 'POST'],
  response: requestDetailsSchema,
});

export const visitorStatus = endpoint({
  name: 'visitorStatus',
  suffix: '/get-visitor-status/{id}',
  methods: ['GET', 'POST'],
  response: visitorStatusSchema,
});

/** The state after the request: `current` is the block with its end. */
const blockResponse = z.object({ block: flag, current: z.nullable(currentBlock) });
const blockedVisitor = z.object({ visitor_id: z.int(), block: flag, current: z.nullable(currentBlock) });

export const blockIp = endpoint({
  name: 'blockIp',
  suffix: '/block-ip/{id}',
  methods: ['POST'],
  response: blockResponse,
});

export const blockUser = endpoint({
  name: 'blockUser',
  suffix: '/block-user/{id}',
  methods: ['POST'],
  response: blockResponse,
});

export const blockAddresses = endpoint({
  name: 'blockAddresses',
  suffix: '/block-addresses',
  methods: ['POST'],
  response: blockedVisitor,
});

export const blockVisitors = endpoint({
  name: 'blockVisitors',
  suffix: '/block-visitors',
  methods: ['POST'],
  response: z.object({
    done: z.array(blockedVisitor),
    refused: z.array(z.object({ visitor_id: z.int(), reason: z.string() })),
  }),
});

export const loginUnblock = endpoint({
  name: 'loginUnblock',
  suffix: '/login-unblock',
  methods: ['POST'],
  response: z.object({ block: flag }),
});

export const logLifetimePreview = endpoint({
  name: 'logLifetimePreview',
  suffix: '/activity-log-lifetime-preview',
  methods: ['POST', 'GET'],
  response: lifetimePreviewSchema,
});

/** Endpoints of the page Activity Log, except its tab Weekly Reports. */
export const activityEndpoints = [
  activityUnknown,
  registeredActivity,
  blockedUsers,
  searchActivityFilter,
  activityNews,
  activityTraffic,
  activityAttackers,
  activityRequest,
  visitorStatus,
  blockIp,
  blockUser,
  blockAddresses,
  blockVisitors,
  loginUnblock,
  logLifetimePreview,
  ...settingEndpoints(logRows),
] as const;

export const weeklyReport = endpoint({
  name: 'weeklyReport',
  suffix: '/weekly-report',
  methods: ['POST', 'GET'],
  response: recipientsSchema,
});

export const notificationEmails = endpoint({
  name: 'update:notification_emails',
  suffix: '/notification-emails',
  methods: ['POST'],
  response: recipientsSchema,
});

export const previewWeeklyReport = endpoint({
  name: 'previewWeeklyReport',
  suffix: '/weekly-report-preview',
  methods: ['POST', 'GET'],
  response: z.object({ subject: z.string(), html: z.string(), text: z.string() }),
});

export const testWeeklyReport = endpoint({
  name: 'testWeeklyReport',
  suffix: '/weekly-report-test',
  methods: ['POST'],
  response: z.object({ email: z.string() }),
});

/** Endpoints of the tab Weekly Reports. */
export const weeklyReportEndpoints = [weeklyReport, notificationEmails, previewWeeklyReport, testWeeklyReport] as const;

/** Responds with a file instead of a schema's data. Errors use the envelope, as in every endpoint. */
export const activityExport = { name: 'activityExport', suffix: '/activity-export' } as const;

/** All endpoints that respond with a file. */
export const downloads = [activityExport] as const;

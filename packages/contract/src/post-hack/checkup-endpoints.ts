import { endpoint } from '../endpoint.js';
import { postHackRows } from '../settings/catalogue.js';
import { settingEndpoints } from '../settings/endpoints.js';
import { checkupSchema } from './checkup.js';

export const checkup = endpoint({
  name: 'checkup',
  suffix: '/checkup',
  methods: ['POST', 'GET'],
  response: checkupSchema,
});

export const runCheckup = endpoint({
  name: 'runCheckup',
  suffix: '/run-checkup',
  methods: ['POST'],
  response: checkupSchema,
});

export const keepFinding = endpoint({
  name: 'keepFinding',
  suffix: '/keep-finding',
  methods: ['POST'],
  response: checkupSchema,
});

export const removeFinding = endpoint({
  name: 'removeFinding',
  suffix: '/remove-finding',
  methods: ['POST'],
  response: checkupSchema,
});

export const restoreFiles = endpoint({
  name: 'restoreFiles',
  suffix: '/restore-files',
  methods: ['POST'],
  response: checkupSchema,
});

/** Endpoints of the checkup. */
export const checkupEndpoints = [
  checkup,
  runCheckup,
  keepFinding,
  removeFinding,
  restoreFiles,
  ...settingEndpoints(postHackRows),
] as const;

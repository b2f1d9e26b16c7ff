import type { Group } from '../example.js';
import { buttons, chipFields, fields, rows, switches } from './controls.js';
import { dialogs } from './dialogs.js';
import { frameParts } from './frame-parts.js';
import { log } from './log.js';
import { messages, tiles, toasts } from './messages.js';
import { dashboardPage } from './page-dashboard.js';
import { logDialogs, logPage } from './page-log.js';
import { loginDialogs, loginPage } from './page-login.js';
import { postHackPage } from './page-post-hack.js';
import { siteSecurityPage } from './page-site-security.js';
import { pickers } from './pickers.js';
import { remedies } from './remedies.js';
import { catalogue } from './settings.js';

/** All groups of the gallery, in the order of its contents. */
export const groups: readonly Group[] = [
  buttons,
  switches,
  rows,
  catalogue,
  fields,
  chipFields,
  pickers,
  tiles,
  messages,
  toasts,
  dialogs,
  frameParts,
  log,
  remedies,
  dashboardPage,
  siteSecurityPage,
  loginPage,
  loginDialogs,
  logPage,
  logDialogs,
  postHackPage,
];

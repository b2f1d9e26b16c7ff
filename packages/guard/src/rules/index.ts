import type { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { awayMode } from './away-mode.js';
import { blockedVisitors } from './blocked-visitors.js';
import { feeds } from './feeds.js';
import { fileEditors } from './file-editors.js';
import { loginAccess } from './login-access.js';
import { pluginFiles } from './plugin-files.js';
import { readme } from './readme.js';
import type { Rule } from './rule.js';
import { securityHeaders } from './security-headers.js';
import { systemFolders } from './system-folders.js';
import { wordpressVersion } from './wordpress-version.js';
import { xmlRpc } from './xml-rpc.js';

type Toggle = (typeof siteSecurityToggles)[number];

/**
 * Options of the catalogue that are enforced at the gateway. Each must have its rule here; otherwise this does not
 * compile.
 */
type GatewayField = { [T in Toggle as 'gateway' extends T['enforcedAt'][number] ? T['field'] : never]: T };

const siteSecurity = {
  disable_xml_rpc: xmlRpc,
  lock_system_folders: systemFolders,
  disable_file_edit: fileEditors,
  disable_feed: feeds,
  delete_readme: readme,
  wp_remove_version: wordpressVersion,
  xss_protection: securityHeaders,
} as const satisfies Record<keyof GatewayField, Rule>;

/** All rules in the order of evaluation; the first verdict wins. Rules about visitors precede those about paths. */
export const protections: readonly Rule[] = [
  blockedVisitors,
  pluginFiles,
  loginAccess,
  awayMode,
  ...Object.values(siteSecurity),
];

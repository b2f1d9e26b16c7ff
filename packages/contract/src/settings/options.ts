import * as z from 'zod/mini';
import { flag } from '../shapes.js';
import { type SecurityField, siteSecurityToggles } from './protections.js';

/** The seven options in a response: 0 or 1. */
export const securityOptionsSchema = z.strictObject(
  Object.fromEntries(siteSecurityToggles.map((toggle) => [toggle.field, flag])) as Record<SecurityField, typeof flag>,
);

/** Whether signed requests of plugins are allowed while XML-RPC is off, and the active plugins that need them. */
export const signedXmlRpcSchema = z.object({
  signed_xml_rpc: flag,
  plugins: z.array(z.object({ id: z.string(), name: z.string() })),
});

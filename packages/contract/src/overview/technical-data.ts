/**
 * The fields that a site sends to the provider if its owner shares technical data, in this order. The consent dialog
 * lists all of them; docs/developer/overview.md describes the request.
 */
export const technicalDataFields = [
  { field: 'site', text: 'A random-looking identifier of the site, not its address' },
  { field: 'security_optimizer', text: 'Versions of Security Optimizer and of its plugin' },
  { field: 'server', text: 'Operating system, processor type and Node.js version of the server' },
  { field: 'php', text: 'PHP version' },
  { field: 'wordpress', text: 'WordPress version, its language, and whether it is a network of sites' },
  { field: 'plugins', text: 'Plugins: folder, version and whether each is active' },
  { field: 'protections', text: 'Which recommended protections are on' },
] as const;

export type TechnicalDataField = (typeof technicalDataFields)[number]['field'];

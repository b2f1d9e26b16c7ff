/**
 * The catalogue of Site Security toggles. An entry has everything the product needs to draw the row, mount the
 * endpoint, store the value and pass it to the part that enforces it. See CONTRIBUTING.md, "Adding a protection".
 */

/**
 * Where a setting takes effect: `gateway` = guard, before PHP starts; `php` = the connector, inside WordPress; `log` =
 * the Activity Log; `background` = guard's work beside requests, such as alerts and the checkup.
 */
export type EnforcedAt = 'gateway' | 'php' | 'log' | 'background';

export interface SiteSecurityToggle {
  /** Name of the option in requests, responses and storage (specification section 3). */
  readonly field: string;
  /** Suffix of the endpoint that changes it (specification section 7). */
  readonly suffix: string;
  readonly title: string;
  readonly help: string;
  /** Name of the icon file without extension. */
  readonly icon: string;
  /** Value on a fresh site. */
  readonly default: 0 | 1;
  /** Value while all protections are paused. */
  readonly paused: 0;
  /** Whether it counts as an essential and has the label 'recommended' while it is off. */
  readonly essential: boolean;
  readonly enforcedAt: readonly [EnforcedAt, ...EnforcedAt[]];
  /** Success texts, shown after the change. */
  readonly messages: {
    readonly on: string;
    readonly off: string;
    /** Replaces `on` if the connector reports this note about the field. */
    readonly notes?: Readonly<Record<string, string>>;
  };
}

/** The seven toggles in the order of specification section 2. */
export const siteSecurityToggles = [
  {
    field: 'lock_system_folders',
    suffix: '/lock-system-folders',
    title: 'Lock and Protect System Folders',
    help: 'Scripts can’t run in folders that should only hold files, such as uploads.',
    icon: 'folder-lock',
    default: 1,
    paused: 0,
    essential: true,
    enforcedAt: ['gateway'],
    messages: { on: 'System folders are locked.', off: 'System folders are unlocked.' },
  },
  {
    field: 'wp_remove_version',
    suffix: '/hide-wp-version',
    title: 'Hide WordPress Version',
    help: 'Scanners can’t tell which WordPress you run, so they don’t know what to try.',
    icon: 'eye-off',
    default: 1,
    paused: 0,
    essential: true,
    enforcedAt: ['gateway', 'php'],
    messages: { on: 'The WordPress version is hidden.', off: 'The WordPress version is visible.' },
  },
  {
    field: 'disable_file_edit',
    suffix: '/disable-editors',
    title: 'Disable Themes & Plugins Editor',
    help: 'Nobody can change code from the admin area, even with a stolen login.',
    icon: 'editor-off',
    default: 1,
    paused: 0,
    essential: true,
    enforcedAt: ['gateway', 'php'],
    messages: { on: 'The editors are turned off.', off: 'The editors are turned on.' },
  },
  {
    field: 'disable_xml_rpc',
    suffix: '/disable-xml-rpc',
    title: 'Disable XML-RPC',
    help: 'An old remote connection that bots use to guess passwords. Leave it open only if one of your apps needs it.',
    icon: 'plug',
    default: 1,
    paused: 0,
    essential: true,
    enforcedAt: ['gateway', 'php'],
    messages: { on: 'XML-RPC is turned off.', off: 'XML-RPC is turned on.' },
  },
  {
    field: 'disable_feed',
    suffix: '/disable-feeds',
    title: 'Disable RSS and ATOM Feeds',
    help: 'Feeds let others copy your content in bulk. Leave them open if people read you in a feed reader.',
    icon: 'feed',
    default: 0,
    paused: 0,
    essential: true,
    enforcedAt: ['gateway', 'php'],
    messages: { on: 'Feeds are turned off.', off: 'Feeds are turned on.' },
  },
  {
    field: 'xss_protection',
    suffix: '/xss-protection',
    title: 'Advanced XSS Protection',
    help: 'Sends headers that tell browsers to refuse injected scripts.',
    icon: 'code',
    default: 1,
    paused: 0,
    essential: true,
    enforcedAt: ['gateway'],
    messages: { on: 'Advanced XSS protection is turned on.', off: 'Advanced XSS protection is turned off.' },
  },
  {
    field: 'delete_readme',
    suffix: '/delete-readme',
    title: 'Delete the Default Readme.html',
    help: 'Removes a file that comes with WordPress and gives away details about your site.',
    icon: 'file-x',
    default: 0,
    paused: 0,
    essential: false,
    enforcedAt: ['gateway', 'php'],
    messages: {
      on: 'The readme file is deleted.',
      off: 'The readme file is no longer deleted.',
      notes: {
        not_deleted:
          'Saved, but the file could not be deleted because WordPress may not write there. Requests for it are refused.',
      },
    },
  },
] as const satisfies readonly SiteSecurityToggle[];

/** Name of a Site Security option, for example `xss_protection`. */
export type SecurityField = (typeof siteSecurityToggles)[number]['field'];
/** Name of an option that counts as an essential. */
export type EssentialField = Extract<(typeof siteSecurityToggles)[number], { readonly essential: true }>['field'];

/** The seven options, each 0 or 1. */
export type SecurityOptions = Readonly<Record<SecurityField, 0 | 1>>;

/** The options of a site before its owner changes any. */
export const defaultSecurityOptions = Object.fromEntries(
  siteSecurityToggles.map((toggle) => [toggle.field, toggle.default]),
) as SecurityOptions;

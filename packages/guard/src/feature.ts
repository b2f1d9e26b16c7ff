import type { downloadRequests } from '@security-optimizer/contract/activity/requests';
import type { ActivityOptions } from '@security-optimizer/contract/activity/schemas';
import type { ApiEndpoint } from '@security-optimizer/contract/endpoints';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import type { ParsedRequestOf } from '@security-optimizer/contract/requests';
import type { ServerText, WithMessages } from '@security-optimizer/contract/server-message';
import type { fetchOptions } from '@security-optimizer/contract/settings/endpoints';
import type { SecurityOptions } from '@security-optimizer/contract/settings/protections';
import type { z } from 'zod';
import type { RequestHooks } from './hooks.js';
import type { Services } from './services.js';
import type { Actor } from './settings/audit-store.js';
import type { SiteConfig, SiteId } from './site.js';
import type { BrowserIdentity } from './wordpress/connector-client.js';

/**
 * A part of the product. `features.ts` starts the features in order and passes each one the services and the earlier
 * features that it uses.
 */
export interface Feature<Running extends RunningFeature, Earlier = void> {
  readonly name: string;
  start(services: Services, earlier: Earlier): Running | Promise<Running>;
}

/** A started feature. Each feature extends this interface with members that later features and the gateway use. */
export interface RunningFeature {
  /** Its hooks into requests. */
  readonly hooks?: Partial<RequestHooks>;
  /** Settles when all data that guard needs before the first request is in memory. */
  readonly ready?: Promise<void>;
  /** Loads its API endpoints and their use cases, on the first call of the API. */
  loadEndpoints?(): Promise<DeepPartial<Endpoints>>;
  /** Loads the data of a site that is added while guard runs, before the site is served. */
  loadSite?(site: SiteId): Promise<void>;
  /** Stores the remaining data of a site that is no longer served. */
  dropSite?(site: SiteId): Promise<void>;
  /** Called once guard is serving: starts work that can wait until then. */
  onServing?(): void | Promise<void>;
  /**
   * Called once guard no longer serves: the feature starts no new work. All features are drained before the first one
   * stops.
   */
  drain?(): void;
  /** Releases all resources. Later features have already stopped. */
  stop?(): void | Promise<void>;
}

/** The caller of the API, and the site of the call. */
export interface CallContext {
  readonly site: SiteConfig;
  readonly actor: Actor;
  /** The caller's browser, for commands to WordPress about the caller's session. */
  readonly visitor: BrowserIdentity;
}

/** The result of a call, without the API's envelope. */
export interface EndpointResult<Data> {
  readonly data: Data;
  readonly message: ServerText;
  /** `Set-Cookie` values from WordPress for the caller's browser. */
  readonly setCookies?: readonly string[];
}

/** One handler for each call, typed by its schemas. */
export type CallHandlers<Calls extends ApiEndpoint> = {
  readonly [Call in Calls as Call['name']]: (
    input: ParsedRequestOf<Call['name']>,
    context: CallContext,
  ) => Promise<EndpointResult<WithMessages<z.output<Call['response']>>>>;
};

/** One handler for each call of the contract, except `fetchOptions`: the API serves it from `OptionPages`. */
export type Handlers = CallHandlers<Exclude<ApiEndpoint, typeof fetchOptions>>;

/** The data of each settings page. */
export interface OptionPages {
  security(context: CallContext): Promise<SecurityOptions>;
  login(context: CallContext): Promise<LoginOptions>;
  activity(context: CallContext): Promise<ActivityOptions>;
}

/** A file whose content is generated while it is sent. */
export interface DownloadFile {
  readonly name: string;
  readonly mediaType: string;
  /** Chunks of text. Iterating throws StorageError when the rest can't be read. */
  readonly content: AsyncIterable<string>;
}

/** One handler for each call whose response is a file. */
export type DownloadHandlers = {
  readonly [Name in keyof typeof downloadRequests]: (
    input: z.output<(typeof downloadRequests)[Name]['schema']>,
    context: CallContext,
  ) => Promise<DownloadFile>;
};

/** Everything that the API serves. Each feature contributes a part. */
export interface Endpoints {
  readonly handlers: Handlers;
  readonly pages: OptionPages;
  readonly downloads: DownloadHandlers;
}

type DeepPartial<Type> = { readonly [Group in keyof Type]?: Partial<Type[Group]> };

/** Namespaces below the REST root of WordPress, without leading and trailing slashes. */

/** The plugin's own API, served by guard. */
export const API_NAMESPACE = 'security-optimizer/v1';
/** The provider's shared settings API, served by guard. */
export const PROVIDER_NAMESPACE = 'provider-settings/v1';
/** Commands from guard to the connector; guard responds with 404 to other clients. */
export const CONNECTOR_NAMESPACE = 'security-optimizer-connector/v1';

/** Namespaces on the WordPress REST root, without slashes at the ends. */

/** The plugin's own API, served by guard. */
export const API_NAMESPACE = 'security-optimizer/v1';
/** The provider's shared settings API, served by guard. */
export const PROVIDER_NAMESPACE = 'provider-settings/v1';
/** Commands from guard to the connector; guard answers 404 to anyone else who asks for it. */
export const CONNECTOR_NAMESPACE = 'security-optimizer-connector/v1';

/**
 * Headers by which proxies, load balancers and delivery networks name the visitor's address, lower-case. WordPress,
 * plugins and libraries believe many of them from anybody, so none that comes with a request reaches WordPress: guard
 * writes `X-Forwarded-For` and `X-Real-IP` itself. All that begins with `x-forwarded`, and every name with an underscore
 * or another odd character, is left out beside these.
 *
 * A list, not a pattern such as `*-ip`: programs send headers of their own that name somebody else's address.
 */
export const ADDRESS_HEADERS = [
  // RFC 7239, and what is older
  'forwarded',
  'forwarded-for',
  'forwarded-for-ip',
  'x-forward-for',
  'x-original-forwarded-for',
  'x-http-forwarded-for',
  // written by proxies of many kinds
  'client-ip',
  'x-client-ip',
  'x-real-ip',
  'real-ip',
  'x-user-ip',
  'x-source-ip',
  'x-remote-ip',
  'x-remote-addr',
  'remote-addr',
  'x-originating-ip',
  'x-original-remote-addr',
  'x-proxyuser-ip',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'cluster-client-ip',
  'x-cluster-client-ip',
  'x-coming-from',
  'coming-from',
  'x-envoy-external-address',
  // delivery networks and hosts
  'true-client-ip',
  'x-true-client-ip',
  'ali-cdn-real-ip',
  'cdn-src-ip',
  'x-cdn-src-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'cloudfront-viewer-address',
  'do-connecting-ip',
  'eo-connecting-ip',
  'fastly-client-ip',
  'fastly-temp-xff',
  'fly-client-ip',
  'incap-client-ip',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-nf-client-connection-ip',
  'x-sucuri-clientip',
  'x-vercel-forwarded-for',
  'x-vercel-proxied-for',
] as const;

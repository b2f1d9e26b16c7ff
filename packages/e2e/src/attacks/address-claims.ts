/** Headers by which a request may claim to come from another address. */
export const ADDRESS_CLAIMS = [
  'x-forwarded-for',
  'x-real-ip',
  'forwarded',
  'cf-connecting-ip',
  'true-client-ip',
  'x-client-ip',
  'client-ip',
  'x-cluster-client-ip',
  'fastly-client-ip',
  'x-varnish-client-ip',
  'x-sg-real-ip',
  'cdn-real-ip',
] as const;

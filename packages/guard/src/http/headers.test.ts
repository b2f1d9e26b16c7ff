import { describe, expect, it } from 'vitest';
import { isAddressHeader, isCrossSite } from './headers.js';

const words = (text: string): string[] => text.trim().toLowerCase().split(/\s+/);

/** Names that proxies, networks, servers and libraries are known to use or to trust. */
const ADDRESSES = words(`
  Forwarded Forwarded-For Forwarded-For-IP X-Forward-For X-Forwarded X-Forwarded-For X-Forwarded-By X-Forwarder-For
  X-Original-Forwarded-For X-HTTP-Forwarded-For X-Up-Forwarded-For X-Vercel-Forwarded-For X-Vercel-Proxied-For
  X-MS-Forwarded-Client-IP Fastly-Temp-XFF XFF X-XFF
  IP X-IP X-IP-Address X-IPAddress X-Nokia-IPAddress Client-IP X-Client-IP X-ClientIP Client-IPv6 ClientIP X-Client-Address
  X-Real-IP Real-IP X-Real-Addr X-User-IP X-UserIP X-EndUser-IP X-End-User-IP X-Visitor-IP X-Viewer-IP X-Customer-IP
  X-Source-IP X-Src-IP X-SrcIP X-Remote-IP X-RemoteIP X-Remote-Addr X-RemoteAddr Remote-Addr Remote-Address PC-Remote-Addr
  X-Originating-IP X-Original-IP X-Orig-IP X-Origin-IP X-Original-Remote-Addr X-ProxyUser-IP Proxy-Client-IP
  WL-Proxy-Client-IP X-Peer-IP X-Peer-Addr X-Socket-IP X-Request-IP X-CIP NS-CIP NS-Client-IP RLNClientIPAddr
  Cluster-Client-IP X-Cluster-Client-IP X-Coming-From Coming-From X-Envoy-External-Address
  X-Envoy-Downstream-Remote-Address True-Client-IP X-True-Client-IP True-IP X-True-IP Akamai-Client-IP
  Ali-CDN-Real-IP CDN-Src-IP X-CDN-Src-IP CDN-Real-IP X-CDN-IP X-Sg-Real-IP X-Varnish-Client-IP X-LB-ClientIP X-Nginx-Real-IP
  CF-Connecting-IP CF-Connecting-IPv6 CF-Pseudo-IPv4 CloudFront-Viewer-Address X-Amz-Viewer-Address DO-Connecting-IP
  EO-Connecting-IP Fastly-Client-IP Fly-Client-IP Incap-Client-IP X-Appengine-User-IP X-Azure-ClientIP X-Azure-SocketIP
  X-Arr-ClientIP X-NF-Client-Connection-IP X-Sucuri-ClientIP X-QC-Real-IP X-WAP-Network-Client-IP X-Ezoic-Client-IP
  X-Ms-Client-IP X-Bluecoat-Client-Address
`);

/** Headers of browsers, WordPress, programs and networks for other purposes. */
const OTHERS = words(`
  Accept Accept-Encoding Accept-Language Authorization Cache-Control Content-Description Content-Length Content-Type
  Cookie Description DNT From Host If-None-Match Max-Forwards Origin Pragma Range Referer Save-Data Sec-CH-UA-Platform
  Sec-Fetch-Site Sec-GPC Source-Map Subscription-Id Upgrade-Insecure-Requests User-Agent X-Requested-With
  X-WP-Nonce X-HTTP-Method-Override X-WC-Store-API-Nonce X-WC-Webhook-Source X-WC-Webhook-Signature Stripe-Signature
  X-Hub-Signature-256 X-Shopify-Topic X-Twilio-Signature PayPal-Transmission-Id X-GitHub-Event Script-Name
  X-Client-Id X-Client-Version X-Client-Data X-Remote-User X-Real-Estate-Id X-True-Cost X-User-Id X-User-Name X-Peer-Id
  X-Source X-Origin X-Original-Method X-Address X-Email-Address X-User-Email-Address X-Client-Mac-Address
  X-Customer-Billing-Address X-User-Wallet-Address X-Ship-To X-Shipping-Address X-Recipient X-VIP X-VoIP-Id X-Zip X-Trip-Id
  X-Membership X-Clip-Id X-Addressbook X-Tip-Amount X-Coming-Soon
  Ip-Country CF-IPCountry X-IP-Country X-Client-IP-Country X-GeoIP-Country-Code CloudFront-Viewer-Country
  CloudFront-Viewer-City X-AppEngine-Country X-Client-Geo-Location
`);

it.each(ADDRESSES)('%s is an address header', (name) => {
  expect(isAddressHeader(name)).toBe(true);
});

it.each(OTHERS)('%s is no address header', (name) => {
  expect(isAddressHeader(name)).toBe(false);
});

it('a long name is checked in linear time', () => {
  // The pattern alone would need a fifth of a second for this name.
  const long = `${'client-'.repeat(4000)}addx-ip-addrx`;
  const begun = process.cpuUsage();
  for (let round = 0; round < 20; round++) expect(isAddressHeader(long)).toBe(false);
  expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
});

const own = ['shop.example:8080', ['example.org', '*']] as const;

describe('a request that a page of another site caused a browser to send', () => {
  it.each([
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'https://shop.example.evil' }],
    [{ origin: 'https://evilshop.example' }],
    [{ origin: 'https://evil.example:8080' }],
    [{ origin: 'null' }],
    [{ origin: '' }],
    [{ origin: 'https://shop.example, https://evil.example' }],
    [{ 'sec-fetch-site': 'whatever', origin: 'https://evil.example' }],
    [{ 'sec-fetch-site': 'same-origin, cross-site', origin: 'https://evil.example' }],
  ])('%j', (headers) => expect(isCrossSite(headers, ...own)).toBe(true));
});

describe('a request from the site itself, or from a program', () => {
  it.each([
    [{}],
    [{ 'sec-fetch-site': 'whatever' }],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }],
    [{ 'sec-fetch-site': 'same-site', origin: 'https://sister.example' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://example.org' }],
    [{ origin: 'http://shop.example:8080' }],
    [{ origin: 'https://shop.example' }],
    [{ origin: 'https://www.shop.example' }],
    [{ origin: 'https://SHOP.example.' }],
    [{ origin: 'https://second.shop.example' }],
  ])('%j', (headers) => expect(isCrossSite(headers, ...own)).toBe(false));

  it('is recognized by an address in brackets', () => {
    expect(isCrossSite({ origin: 'http://[::1]:8080' }, '[::1]:8080', [])).toBe(false);
  });

  it('is recognized by the bare domain when the page is on www', () => {
    expect(isCrossSite({ origin: 'https://shop.example' }, 'www.shop.example', [])).toBe(false);
  });
});

import {
  awaitEnd,
  awaitResponse,
  crowd,
  disconnect,
  pause,
  readSlowly,
  reset,
  type Step,
  send,
  sendSlowly,
  type Visit,
} from './client.js';
import { joined, type Kind, page, post, postHead, request, several } from './requests.js';

/** Requests in one pipeline at most: more than any client sends, and some five megabytes. */
const LONGEST_PIPELINE = 100_000;

/** How many connections the idle crowd has: as many as guard gives an address, unless it is configured otherwise. */
const IDLE_CROWD = 500;

/** How long to wait for a response that is required. It only ends a hanging request. */
const PATIENCE_MS = 10_000;

/** These requests always ask for a slow response of the web server. A real one takes its own time. */
const slowly =
  (one: (visit: Visit) => string, behaviour = 'never answers') =>
  (visit: Visit): string =>
    one({ ...visit, behaviour });

/** A page that a real WordPress has to search for, so that it takes long there, too. */
const slowPage = slowly((visit) => request({ path: `/?s=${visit.random.between(1, 1e9)}` })(visit));

/** Minimal requests, one after another. */
const pipeline = (count: number) => send((visit: Visit) => Buffer.from(page(visit).repeat(count), 'latin1'));

const anyPipeline: Step = (visit) => pipeline(visit.random.pick([1000, 10_000, LONGEST_PIPELINE]))(visit);

/** Half a body, then silence until guard closes the connection or the time is over. */
const stalledBody: readonly Step[] = [
  send(postHead('Content-Length: 200000\r\n')),
  send('u'.repeat(100_000)),
  awaitEnd(2500),
  disconnect,
];

/** A large response that is read slowly. */
const slowDownload: readonly Step[] = [
  send(slowly(request({ path: '/wp-includes/js/jquery/jquery.js' }), 'huge')),
  readSlowly(2500),
  disconnect,
];

/** A keep-alive connection: one request that does not reach WordPress, then silence. */
const idle: readonly Step[] = [send(cheap), awaitResponse(30_000)];

function cheap(visit: Visit): string {
  return slowly(request({ path: '/wp-includes/images/blank.gif' }), 'normal')(visit);
}

/** A request of another client with the same address as the crowd. Guard must answer it. */
const ordinaryRequest: readonly Step[] = [
  send(cheap),
  awaitResponse(PATIENCE_MS),
  (visit) => {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(visit.received())?.[1];
    visit.note(status === undefined ? null : Number(status));
  },
];

/** Twice as many connections as guard's limit to WordPress, few of them per address. */
const shares = { count: 96, addresses: 12 };

/**
 * Visits with many connections or requests. They run one after another beside the others, since many at the same time
 * would only test this machine.
 */
export const crowds: readonly Kind[] = [
  ['a long pipeline that is left at once', anyPipeline, pause(0, 200), reset],
  ['a long pipeline that is never read', anyPipeline, ({ socket }) => void socket.pause(), awaitEnd(2000), disconnect],
  ['a long pipeline that is read', anyPipeline, awaitEnd(3000), disconnect],
  [
    'a long pipeline behind a slow page',
    send(slowPage),
    (visit) => pipeline(LONGEST_PIPELINE)(visit),
    awaitEnd(2000),
    disconnect,
  ],
  [
    'a long pipeline behind a POST',
    send(post('a=1')),
    (visit) => pipeline(LONGEST_PIPELINE)(visit),
    awaitEnd(2000),
    disconnect,
  ],
  [
    'a long pipeline behind half a POST',
    send(postHead('Content-Length: 10\r\n')),
    send('12345'),
    pause(100),
    send('67890'),
    (visit) => pipeline(LONGEST_PIPELINE)(visit),
    awaitEnd(2000),
    disconnect,
  ],
  ['a long pipeline in small pieces', sendSlowly(several(2000, page), 400, 5), awaitEnd(1000), disconnect],
  [
    'a long pipeline of slow pages in small pieces',
    sendSlowly(joined(slowPage, several(2000, page)), 400, 5),
    awaitEnd(1000),
    disconnect,
  ],
  [
    'a crowd that leaves a slow page after 20 ms',
    ...times(10, crowd({ count: 40 }, send(slowPage), pause(20), disconnect)),
  ],
  ['a crowd that resets a slow page after 20 ms', ...times(10, crowd({ count: 40 }, send(slowPage), pause(20), reset))],
  ['a crowd that resets at once', ...times(5, crowd({ count: 60 }, reset))],
  ['a crowd that resets after the head', ...times(5, crowd({ count: 60 }, send(request()), reset))],
  ['bodies that stall from many addresses', crowd(shares, ...stalledBody)],
  ['slow downloads from many addresses', crowd(shares, ...slowDownload)],
  [
    'an idle crowd and a request of its address',
    crowd({ count: IDLE_CROWD, addresses: 1, last: ordinaryRequest }, ...idle),
  ],
];

function times(count: number, step: Step): Step[] {
  return Array.from({ length: count }, () => step);
}

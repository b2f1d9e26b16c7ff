import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { eventsDuring, newestEvents } from './helpers.js';

/** An order as WooCommerce's hooks pass it, with the parts that the connector uses. */
const order = (number: string) => `wp_set_current_user( 1 ); $order = new class() {
  public function get_id() { return 41; }
  public function get_order_number() { return '${number}'; }
  public function get_type() { return 'shop_order'; }
};`;

const SAVED = `do_action( 'woocommerce_update_order', 41, $order );`;
const PAID = `do_action( 'woocommerce_order_status_changed', 41, 'pending', 'processing', $order );`;

/** Table of the outbox, as PHP in a string in double quotes. */
const TABLE = "{$GLOBALS['wpdb']->base_prefix}security_optimizer_outbox";

onUnlikeStacks('an event that a later hook of the same request completes', (stack) => {
  let owner: Session;
  const dir = join(stack.dir, 'held-events');
  const login = 'promoted-in-steps';

  beforeAll(async () => {
    owner = await logIn(stack);
    mkdirSync(dir, { recursive: true });
    await runInWordPress(
      stack,
      `wp_insert_user( array( 'user_login' => '${login}', 'user_pass' => wp_generate_password(), 'role' => 'subscriber' ) );`,
    );
  });

  afterAll(async () => {
    await runInWordPress(
      stack,
      `require ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user( get_user_by( 'login', '${login}' )->ID );`,
    );
    rmSync(dir, { recursive: true, force: true });
  });

  let pauses = 0;

  /**
   * The log entries of a PHP process that waits between the two halves of its work until guard has drained the outbox.
   */
  async function drainBetween(first: string, second: string): Promise<string[]> {
    const reached = join(dir, `reached-${++pauses}`);
    const go = join(dir, `go-${pauses}`);
    // Keeps the row new, however long the drain takes on a slow machine.
    const wait = `touch( '${reached}' ); $GLOBALS['wpdb']->suppress_errors();
      while ( ! file_exists( '${go}' ) ) {
        usleep( 200000 );
        $GLOBALS['wpdb']->query( "UPDATE ${TABLE} SET held_until = " . ( time() + 5 ) . ' WHERE held_until > 0' );
      }`;
    const events = await eventsDuring(stack, owner, async () => {
      const running = runInWordPress(stack, `${first} ${wait} ${second}`);
      try {
        await Promise.race([until('PHP is between its hooks', () => existsSync(reached)), running]);
        // Guard has drained when the log contains the event after the first half.
        await eventsDuring(stack, owner, async () => {});
      } finally {
        writeFileSync(go, '');
      }
      await running;
    });
    return events.map(({ activity }) => activity);
  }

  it('is logged once for an order, even if guard drains the outbox between the hooks', async () => {
    const rows = await drainBetween(`${order('between')} ${SAVED}`, PAID);
    expect(rows.filter((text) => text.includes('#between'))).toEqual([
      'Changed order #between from pending to processing',
    ]);
  });

  it('is logged once for the roles of a user, even if guard drains the outbox between the steps', async () => {
    const user = `wp_set_current_user( 1 ); $user = get_user_by( 'login', '${login}' );`;
    const rows = await drainBetween(`${user} $user->remove_role( 'subscriber' );`, `$user->add_role( 'editor' );`);
    expect(rows.filter((text) => text.includes(login))).toEqual([
      `Changed the role of “${login}” from Subscriber to Editor`,
    ]);
  });

  /** Runs PHP that is killed at its end, so that `shutdown` does not run. */
  const runKilled = (code: string) =>
    expect(runInWordPress(stack, `${code} posix_kill( getmypid(), 9 );`)).rejects.toMatchObject({ signal: 'SIGKILL' });

  it('is logged incompletely when PHP is killed between the hooks', async () => {
    await runKilled(`${order('killed')} ${SAVED}`);
    // Most likely there is a drain that holds the row back.
    await eventsDuring(stack, owner, async () => {});
    await until('the log tells of the order', async () =>
      (await newestEvents(stack, owner)).some(({ activity }) => activity === 'Changed order #killed'),
    );
  });

  it('is logged at once when it was written before the clock was set back', async () => {
    const delayByHour = `$GLOBALS['wpdb']->query( "UPDATE ${TABLE} SET held_until = held_until + 3600 WHERE held_until > 0" );`;
    const events = await eventsDuring(stack, owner, () => runKilled(`${order('ahead')} ${SAVED} ${delayByHour}`));
    expect(events.map(({ activity }) => activity)).toContain('Changed order #ahead');
  });

  describe('with an outbox table of an earlier connector', () => {
    const createOldTable = `$GLOBALS['wpdb']->query( "DROP TABLE ${TABLE}" );
      $GLOBALS['wpdb']->query( "CREATE TABLE ${TABLE} (id bigint(20) unsigned NOT NULL AUTO_INCREMENT, uid char(32) NOT NULL, event text NOT NULL, PRIMARY KEY (id), UNIQUE KEY uid (uid)) " . $GLOBALS['wpdb']->get_charset_collate() );`;

    it.each([
      ['is logged', SAVED, 'Changed order #old-table'],
      ['does not delay an event that is logged at once', PAID, 'Changed order #old-table from pending to processing'],
    ])('%s', async (_what, hook, text) => {
      const events = await eventsDuring(stack, owner, () =>
        runInWordPress(stack, `${createOldTable} ${order('old-table')} ${hook}`),
      );
      expect(events.map(({ activity }) => activity).filter((each) => each.includes('#old-table'))).toEqual([text]);
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countQueries } from '../../http/count-queries.js';
import { allOptions, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { change } from '../login/helpers.js';

onUnlikeStacks('the connector and WordPress’s database', (stack) => {
  let owner: Session;

  beforeAll(async () => {
    owner = await logIn(stack);
  });

  it('finds administrators and editors of every site of a network, with keys that all databases compare alike', async () => {
    const output = await runInWordPress(
      stack,
      `$roles = array(
        'on-second-site'    => array( '2_capabilities', array( 'administrator' => true ) ),
        'editor-elsewhere'  => array( '17_capabilities', array( 'editor' => true ) ),
        'role-taken-away'   => array( '2_capabilities', array( 'administrator' => false ) ),
        'author-elsewhere'  => array( '2_capabilities', array( 'author' => true ) ),
        'key-of-a-plugin'   => array( '2_capabilities_before', array( 'administrator' => true ) ),
        'prefix-of-another' => array( 'x2_capabilities', array( 'administrator' => true ) ),
        'any-sign'          => array( 'X_capabilities', array( 'administrator' => true ) ),
      );
      $names = array();
      foreach ( $roles as $login => $meta ) {
        $id = wp_insert_user( array( 'user_login' => $login, 'user_pass' => 'x', 'user_email' => "$login@example.com", 'role' => 'subscriber' ) );
        update_user_meta( $id, $GLOBALS['wpdb']->base_prefix . $meta[0], $meta[1] );
        $names[ $id ] = $login;
      }
      $found = Security_Optimizer_Command_End_Sessions::list_users( true );
      echo wp_json_encode( array(
        'found' => array_values( array_intersect_key( $names, array_flip( $found ) ) ),
        'owner' => in_array( 1, $found, true ),
        'error' => $GLOBALS['wpdb']->last_error,
      ) );
      require_once ABSPATH . 'wp-admin/includes/user.php';
      foreach ( array_keys( $names ) as $id ) { wp_delete_user( $id ); }`,
    );
    expect(JSON.parse(output)).toEqual({ found: ['on-second-site', 'editor-elsewhere'], owner: true, error: '' });
  });

  describe('adds no query to a page for visitors', () => {
    const added = async (target: string, prepare?: string) => {
      const { withConnector, without } = await countQueries(stack, { target }, undefined, prepare);
      const more = withConnector.texts.filter((text) => !without.texts.includes(text));
      return { more, queries: withConnector.count - without.count };
    };

    it.each(['/', '/hello-world/', '/nothing-here/'])('at %s', async (target) => {
      expect(await added(target)).toEqual({ more: [], queries: 0 });
    });

    it('with every option of Site Security on and a custom login URL', async () => {
      const before = await readOptions(stack, owner);
      const custom = { type: 'custom', login: 'quiet-entry', signup: 'quiet-signup' };
      try {
        await setOptions(stack, owner, allOptions(1));
        await change(stack, owner, '/custom-login-url', custom);
        expect(await added('/')).toEqual({ more: [], queries: 0 });
      } finally {
        await change(stack, owner, '/custom-login-url', { type: 'default' });
        await setOptions(stack, owner, before);
      }
    });

    describe('where the policy was stored without being loaded with the other options', () => {
      const stored =
        '$wpdb->get_var( "SELECT autoload FROM $wpdb->options WHERE option_name = \'security_optimizer_policy\'" )';
      // WordPress has already loaded its options, so they are loaded again as after the change. Guard may request at
      // any time
      // the state of the site, so the table may have changed again.
      const spoil = `global $wpdb;
        $wpdb->update( $wpdb->options, array( 'autoload' => 'no' ), array( 'option_name' => 'security_optimizer_policy' ) );
        $all = wp_load_alloptions( true );
        unset( $all['security_optimizer_policy'] );
        wp_cache_set( 'alloptions', $all, 'options' );`;

      afterAll(() => runInWordPress(stack, 'Security_Optimizer_Policy::ensure_autoload();'));

      it('after guard has requested the state of the site', async () => {
        expect((await added('/', spoil)).queries).toBe(1);
        // The request that guard sends at its start and every ten minutes.
        const hello = 'Security_Optimizer_Command_Hello::run();';
        expect(await runInWordPress(stack, `${spoil} ${hello} echo ${stored};`)).not.toBe('no');
        expect(await added('/')).toEqual({ more: [], queries: 0 });
      });
    });
  });
});

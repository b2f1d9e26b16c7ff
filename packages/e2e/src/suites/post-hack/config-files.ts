/** A variant of wp-config.php, and the expected result for its security keys. */
export interface ConfigCase {
  readonly name: string;
  readonly config: string;
  /** Other files, by path from the site's folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs before everything else, as with `auto_prepend_file` of hosts. */
  readonly prepend?: string;
  /** Path of the configuration, relative to the folder of WordPress. */
  readonly at?: string;
  /** Path of the configuration if WordPress has a link to it. */
  readonly linkTo?: string;
  /** As in WP-CLI, which evaluates the code instead of including the file. */
  readonly isEvaluated?: boolean;
  /** PHP may not write it. */
  readonly isReadOnly?: boolean;
  readonly ends: 'replaced' | 'partly' | 'stay';
  /** Of `partly` and `stay`. */
  readonly cause?: 'not-writable' | 'elsewhere' | 'plugin';
  /** Files that the result names. */
  readonly named?: readonly string[];
}

export const KEY_NAMES = [
  'AUTH_KEY',
  'SECURE_AUTH_KEY',
  'LOGGED_IN_KEY',
  'NONCE_KEY',
  'AUTH_SALT',
  'SECURE_AUTH_SALT',
  'LOGGED_IN_SALT',
  'NONCE_SALT',
] as const;
type KeyName = (typeof KEY_NAMES)[number];

const DEFINE = (name: string, value: string) => `define( '${name}', ${value} );`;
/** All eight in one notation. @param value the value as PHP; by default a different old one for each */
const eight = (write: (name: KeyName, value: string) => string, value = (name: string) => `'old ${name}'`) =>
  KEY_NAMES.map((name) => write(name, value(name))).join('\n');
const usual = eight(DEFINE);
/** All eight in the usual notation, one in another. */
const but = (name: KeyName, line: string) => usual.replace(DEFINE(name, `'old ${name}'`), () => line);
const REST = `
$table_prefix = 'wp_';
if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', __DIR__ . '/' );
}
require_once ABSPATH . 'wp-settings.php';
`;
/** A whole configuration. */
const file = (keys: string) =>
  `<?php
define( 'DB_NAME', 'shop' ); define( 'DB_PASSWORD', 'se\\'cret $x \\\\ "AUTH_KEY"' );
${keys}
${REST}`;
const fromEnvironment = Object.fromEntries(KEY_NAMES.map((name) => [name, `from outside ${name}`]));

/** Configurations as written by people, hosts and tools. */
export const configCases: readonly ConfigCase[] = [
  { name: 'the usual one', config: file(usual), ends: 'replaced' },
  { name: 'the sample text', config: file(eight(DEFINE, () => "'put your unique phrase here'")), ends: 'replaced' },
  { name: 'no keys', config: file(''), ends: 'replaced' },
  { name: 'four keys and no salts', config: file(usual.split('\n').slice(0, 4).join('\n')), ends: 'replaced' },
  { name: 'seven keys', config: file(but('NONCE_KEY', '')), ends: 'replaced' },
  { name: 'empty values', config: file(eight(DEFINE, () => "''")), ends: 'replaced' },
  { name: 'one value for all', config: file(eight(DEFINE, () => "'the same for all'")), ends: 'replaced' },
  { name: 'numbers', config: file(but('AUTH_KEY', "define( 'AUTH_KEY', 1234567890 );")), ends: 'replaced' },
  { name: 'double quotes', config: file(eight((name) => `define("${name}","old ${name}");`)), ends: 'replaced' },
  { name: 'upper case', config: file(eight((name, value) => `DEFINE('${name}', ${value});`)), ends: 'replaced' },
  {
    name: 'a backslash in front',
    config: file(eight((name, value) => `\\define('${name}', ${value});`)),
    ends: 'replaced',
  },
  { name: 'const', config: file(eight((name, value) => `const ${name} = ${value};`)), ends: 'replaced' },
  {
    name: 'one const for all',
    config: file(`const ${KEY_NAMES.map((name) => `${name} = 'old ${name}'`).join(', ')};`),
    ends: 'replaced',
  },
  {
    name: 'a third argument',
    config: file(eight((name, value) => `define( '${name}', ${value}, false );`)),
    ends: 'replaced',
  },
  {
    name: 'only where not defined',
    config: file(eight((name, value) => `if ( ! defined( '${name}' ) ) define( '${name}', ${value} );`)),
    ends: 'replaced',
  },
  {
    name: 'only where not defined, in short',
    config: file(eight((name, value) => `defined( '${name}' ) or define( '${name}', ${value} );`)),
    ends: 'replaced',
  },
  {
    name: 'comments in between',
    config: file(eight((name, value) => `define /* a */ ( # b\n '${name}' /* c */ , // d\n ${value} /* e */ );`)),
    ends: 'replaced',
  },
  {
    name: 'keys in comments and strings besides',
    config: file(
      `/* define( 'AUTH_KEY', 'no' ); */ // define( 'AUTH_KEY', 'no' );\n$a = "define( 'AUTH_KEY', 'no' );";\n${usual}`,
    ),
    ends: 'replaced',
  },
  {
    name: 'put together of parts',
    config: file(but('AUTH_KEY', "define( 'AUTH_KEY', 'a' . \"b\" . ( 'c' ) );")),
    ends: 'replaced',
  },
  {
    name: 'a comment inside a value',
    config: file(but('AUTH_KEY', "define( 'AUTH_KEY', 'a' /* keep */ . 'b' );")),
    ends: 'partly',
    cause: 'elsewhere',
    named: ['wp-config.php'],
  },
  {
    name: 'heredoc and nowdoc',
    config: file(
      but('AUTH_KEY', "define( 'AUTH_KEY', <<<K\nold\nK\n);").replace("'old NONCE_SALT'", "<<<'K'\nold $x\nK\n"),
    ),
    ends: 'replaced',
  },
  {
    name: 'quotes, backslashes and dollars in values',
    config: file(eight((name) => `define( '${name}', 'a\\'b\\\\c$d"e${name}?>' );`)),
    ends: 'replaced',
  },
  {
    name: 'dollars and backslashes in double quotes',
    config: file(eight((name) => `define( '${name}', "a\\$b\\\\c\\x41 ${name}" );`)),
    ends: 'replaced',
  },
  { name: 'Windows line ends', config: file(usual).replaceAll('\n', '\r\n'), ends: 'replaced' },
  { name: 'a byte order mark', config: `\uFEFF${file(usual)}`, ends: 'replaced' },
  { name: 'a closing tag', config: `${file(usual)}?>\n`, ends: 'replaced' },
  { name: 'several opening tags', config: file(`${usual.replaceAll('\n', ' ?>\n<?php ')}`), ends: 'replaced' },
  {
    name: 'one line without a line end',
    config: `<?php ${usual.replaceAll('\n', '')}$table_prefix='wp_';require_once ABSPATH.'wp-settings.php';`,
    ends: 'replaced',
  },
  {
    name: 'a namespace and define',
    config: file(usual).replace('<?php', '<?php\nnamespace Shop;'),
    ends: 'replaced',
  },
  {
    name: 'a namespace and const, which WordPress does not see',
    config: file(eight((name, value) => `const ${name} = ${value};`)).replace('<?php', '<?php\nnamespace Shop;'),
    ends: 'replaced',
  },
  {
    name: 'a class with constants of these names',
    config: file(`class Keys { const AUTH_KEY = 'not this'; const NONCE_KEY = 'nor this'; }\n${usual}`),
    ends: 'replaced',
  },
  {
    name: 'twice the same',
    config: file(usual).replace(REST, `@define( 'AUTH_KEY', 'another' );${REST}`),
    ends: 'replaced',
  },
  {
    name: 'a branch by environment, the first of which runs',
    config: file(`if ( 'live' === 'live' ) {\n${usual}\n} else {\n${usual.replaceAll('old', 'other')}\n}`),
    ends: 'replaced',
  },
  {
    name: 'a branch by environment, the second of which runs',
    config: file(`if ( 'live' === getenv( 'WP_ENV' ) ) {\n${usual}\n} else {\n${usual.replaceAll('old', 'other')}\n}`),
    ends: 'replaced',
  },
  {
    name: 'a branch that never runs, and no keys besides',
    config: file(`if ( false ) {\n${usual}\n}`),
    ends: 'replaced',
  },
  {
    name: 'a branch that never runs beside a file of keys',
    config: file(`if ( false ) {\n${usual}\n} else {\nrequire __DIR__ . '/keys.php';\n}`),
    files: { 'keys.php': `<?php\n${usual.replaceAll('old', 'kept')}` },
    ends: 'stay',
    cause: 'elsewhere',
    named: ['keys.php'],
  },
  {
    name: 'a file of keys',
    config: file("require __DIR__ . '/keys.php';"),
    files: { 'keys.php': `<?php\n${usual}` },
    ends: 'stay',
    cause: 'elsewhere',
    named: ['keys.php'],
  },
  {
    name: 'a file of keys that defines first',
    config: file(
      `@include __DIR__ . '/keys.php';\n${eight((name, value) => `defined( '${name}' ) || define( '${name}', ${value} );`)}`,
    ),
    files: { 'keys.php': `<?php\n${usual.replaceAll('old', 'first')}` },
    ends: 'stay',
    cause: 'elsewhere',
    named: ['keys.php'],
  },
  {
    name: 'a file of two keys that defines first',
    config: file(
      `require __DIR__ . '/keys.php';\n${eight((name, value) => `defined( '${name}' ) || define( '${name}', ${value} );`)}`,
    ),
    files: { 'keys.php': "<?php\nconst AUTH_KEY = 'first';\ndefine( 'NONCE_SALT', 'first too' );" },
    ends: 'partly',
    cause: 'elsewhere',
    named: ['keys.php'],
  },
  {
    name: 'a host that defines first',
    config: file(usual.replaceAll('define(', '@define(')),
    prepend: `<?php\n${usual.replaceAll('old', 'of the host')}`,
    ends: 'stay',
    cause: 'elsewhere',
    named: ['host.php'],
  },
  {
    name: 'a host that defines the same values first',
    config: file(usual.replaceAll('define(', '@define(')),
    prepend: `<?php\nforeach ( array( '${KEY_NAMES.join("', '")}' ) as $name ) define( $name, "old $name" );`,
    ends: 'stay',
  },
  {
    name: 'the environment',
    config: file(eight(DEFINE, (name) => `getenv( '${name}' )`)),
    env: fromEnvironment,
    ends: 'stay',
    cause: 'elsewhere',
    named: ['wp-config.php'],
  },
  {
    name: 'the environment, else text: the environment has them',
    config: file(eight(DEFINE, (name) => `getenv( '${name}' ) ?: 'otherwise ${name}'`)),
    env: fromEnvironment,
    ends: 'stay',
    cause: 'elsewhere',
    named: ['wp-config.php'],
  },
  {
    name: 'the environment, else text: the environment lacks them',
    config: file(eight(DEFINE, (name) => `getenv( '${name}' ) ?: 'otherwise ${name}'`)),
    ends: 'stay',
    cause: 'elsewhere',
    named: ['wp-config.php'],
  },
  {
    name: 'one of the environment',
    config: file(but('AUTH_KEY', "define( 'AUTH_KEY', getenv( 'AUTH_KEY' ) );")),
    env: fromEnvironment,
    ends: 'partly',
    cause: 'elsewhere',
    named: ['wp-config.php'],
  },
  {
    name: 'both halves of a scheme of the environment',
    config: file(
      but('AUTH_KEY', "define( 'AUTH_KEY', $_SERVER['AUTH_KEY'] );").replace(
        "'old AUTH_SALT'",
        "getenv( 'AUTH_SALT' )",
      ),
    ),
    env: fromEnvironment,
    ends: 'partly',
    cause: 'elsewhere',
    named: ['wp-config.php'],
  },
  {
    name: 'Bedrock',
    config: `<?php\nrequire_once dirname( __DIR__ ) . '/config/application.php';\nrequire_once ABSPATH . 'wp-settings.php';\n`,
    at: '../wp-config.php',
    files: {
      '../../config/application.php': `<?php
final class Config { public static function define( $name, $value ) { define( $name, $value ); } }
foreach ( file( dirname( __DIR__ ) . '/.env', FILE_IGNORE_NEW_LINES ) as $line ) { list( $name, $value ) = explode( '=', $line, 2 ); $_ENV[ $name ] = trim( $value, "'" ); }
${eight((name) => `Config::define( '${name}', $_ENV['${name}'] );`)}
if ( ! defined( 'ABSPATH' ) ) { define( 'ABSPATH', dirname( __DIR__ ) . '/web/wp/' ); }
$table_prefix = 'wp_';
`,
      '../../.env': KEY_NAMES.map((name) => `${name}='dotenv ${name}'`).join('\n'),
    },
    ends: 'stay',
    cause: 'elsewhere',
  },
  {
    name: 'a loop over a list',
    config: file(
      `foreach ( array( ${KEY_NAMES.map((name) => `'${name}' => 'old ${name}'`).join(', ')} ) as $name => $value ) { define( $name, $value ); }`,
    ),
    ends: 'stay',
    cause: 'elsewhere',
  },
  {
    name: 'a function that wraps define',
    config: file(
      `function put( $name, $value ) { defined( $name ) || define( $name, $value ); }\n${eight((name, value) => `put( '${name}', ${value} );`)}`,
    ),
    ends: 'stay',
    cause: 'elsewhere',
  },
  {
    name: 'a variable',
    config: file(but('LOGGED_IN_KEY', "$key = 'old'; define( 'LOGGED_IN_KEY', \"$key and more\" );")),
    ends: 'partly',
    cause: 'elsewhere',
    named: ['wp-config.php'],
  },
  {
    name: 'named arguments',
    config: file(but('LOGGED_IN_KEY', "define( constant_name: 'LOGGED_IN_KEY', value: 'old' );")),
    ends: 'partly',
    cause: 'elsewhere',
  },
  {
    name: 'keys out of a command that is run',
    config: file(`eval( "${usual.replaceAll('\n', ' ')}" );`),
    ends: 'stay',
    cause: 'elsewhere',
  },
  {
    name: 'SECRET_KEY in place of missing keys',
    config: file("define( 'SECRET_KEY', 'a very old way' );"),
    ends: 'partly',
    cause: 'elsewhere',
  },
  {
    name: 'a plugin that makes the salts',
    config: file(`${usual}\nfunction wp_salt( $scheme = 'auth' ) { return 'made by a plugin for ' . $scheme; }`),
    ends: 'stay',
    cause: 'plugin',
  },
  { name: 'one folder above', config: file(usual), at: '../wp-config.php', ends: 'replaced' },
  {
    name: 'one folder above, where another WordPress is',
    config: file(usual),
    files: {
      '../wp-config.php': file(usual.replaceAll('old', 'not ours')),
      '../wp-settings.php': '<?php exit( 1 );',
    },
    ends: 'replaced',
  },
  { name: 'a link', config: file(usual), linkTo: '../shared/wp-config.php', ends: 'replaced' },
  { name: 'read only', config: file(usual), isReadOnly: true, ends: 'stay', cause: 'not-writable' },
  {
    name: 'ABSPATH of its own, with a folder too many',
    config: file(usual),
    prepend: "<?php define( 'ABSPATH', $_SERVER['argv'][2] . '/./../wp/' );",
    ends: 'replaced',
  },
  { name: 'as WP-CLI runs it', config: file(usual), isEvaluated: true, ends: 'replaced' },
];

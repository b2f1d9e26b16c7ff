<?php
/**
 * Finds what PHP 7.4 does not support.
 *
 * @package Security_Optimizer
 */

use PhpParser\Node;
use PhpParser\NodeFinder;

/** Functions and classes of PHP 8. WordPress has polyfills for some of them. */
const NEWER_FUNCTIONS = array(
	'array_all',
	'array_any',
	'array_find',
	'array_find_key',
	'array_is_list',
	'fdatasync',
	'fdiv',
	'fsync',
	'get_debug_type',
	'get_resource_id',
	'http_get_last_response_headers',
	'ini_parse_quantity',
	'json_validate',
	'mb_str_pad',
	'mb_trim',
	'mb_ltrim',
	'mb_rtrim',
	'mb_ucfirst',
	'mb_lcfirst',
	'memory_reset_peak_usage',
	'openssl_cipher_key_length',
	'preg_last_error_msg',
	'str_contains',
	'str_ends_with',
	'str_starts_with',
	'stream_context_set_options',
);
const NEWER_CLASSES   = array( 'attribute', 'fiber', 'internaliterator', 'phptoken', 'stringable', 'unhandledmatcherror', 'valueerror', 'weakmap', 'random\\randomizer', 'sensitiveparameter' );

/**
 * @param Node[] $tree Syntax tree of a file.
 * @param string $code Its code.
 * @return string[] Faults, each with its line.
 */
function find_newer_syntax( array $tree, $code ) {
	$names  = array(
		'Expr_Match'                 => 'match',
		'Expr_Throw'                 => 'throw as an expression',
		'Expr_NullsafeMethodCall'    => '?->',
		'Expr_NullsafePropertyFetch' => '?->',
		'AttributeGroup'             => 'attribute',
		'Stmt_Enum'                  => 'enum',
		'UnionType'                  => 'union type',
		'IntersectionType'           => 'intersection type',
		'VariadicPlaceholder'        => 'first-class callable',
	);
	$faults = array();
	foreach ( ( new NodeFinder() )->findInstanceOf( $tree, Node::class ) as $node ) {
		$what = isset( $names[ $node->getType() ] ) ? $names[ $node->getType() ] : null;
		if ( $node instanceof Node\Arg && null !== $node->name ) {
			$what = 'named argument';
		} elseif ( $node instanceof Node\Param && 0 !== $node->flags ) {
			$what = 'promoted property';
		} elseif ( $node instanceof Node\Stmt\Catch_ && null === $node->var ) {
			$what = 'catch without a variable';
		} elseif ( $node instanceof Node\Expr\ClassConstFetch && ! $node->class instanceof Node\Name && 'class' === (string) $node->name ) {
			$what = '::class of an object';
		} elseif ( $node instanceof Node\FunctionLike && $node->getReturnType() instanceof Node && in_array( (string) ( $node->getReturnType() instanceof Node\NullableType ? $node->getReturnType()->type : $node->getReturnType() ), array( 'static', 'mixed', 'never', 'false', 'true', 'null' ), true ) ) {
			$what = 'return type';
		} elseif ( $node instanceof Node\Stmt\Property && 0 !== ( $node->flags & Node\Stmt\Class_::MODIFIER_READONLY ) ) {
			$what = 'readonly';
		} elseif ( $node instanceof Node\Scalar\LNumber && 0 === stripos( (string) $node->getAttribute( 'rawValue' ), '0o' ) ) {
			$what = '0o';
		}
		if ( null !== $what ) {
			$faults[] = $node->getStartLine() . ": PHP 7.4 has no $what";
		}
	}
	return array_merge( $faults, find_trailing_commas( $code ) );
}

/** A comma after the last parameter of a declaration is PHP 8; the tree does not show it. */
function find_trailing_commas( $code ) {
	$faults = array();
	$depths = array();
	$last   = null;
	foreach ( PhpToken::tokenize( $code ) as $token ) {
		if ( $token->isIgnorable() ) {
			continue;
		}
		if ( '(' === $token->text ) {
			$depths[] = null !== $last && ( $last->is( array( T_FUNCTION, T_FN, T_USE ) ) || ( $last->is( T_STRING ) && $is_declared ) );
		} elseif ( ')' === $token->text && array_pop( $depths ) && ',' === $last->text ) {
			$faults[] = $token->line . ': PHP 7.4 has no comma after the last parameter';
		}
		$is_declared = null !== $last && $last->is( T_FUNCTION ) && $token->is( T_STRING );
		$last        = $token;
	}
	return $faults;
}

<?php
/**
 * Checks one file of the connector: names must exist, and calls must have the right arguments.
 *
 * @package Security_Optimizer
 */

use PhpParser\Node;
use PhpParser\NodeFinder;

final class Checker {

	/** Variables that are always set. */
	const SUPERGLOBALS = array( 'this', 'GLOBALS', '_SERVER', '_GET', '_POST', '_REQUEST', '_COOKIE', '_FILES', '_ENV', '_SESSION' );

	/** Classes of variables that WordPress sets. */
	const GLOBALS = array(
		'wpdb'          => 'wpdb',
		'wp_rewrite'    => 'WP_Rewrite',
		'wp_query'      => 'WP_Query',
		'wp_filesystem' => 'WP_Filesystem_Base',
	);

	/** @var Symbols The connector, WordPress and PHP. */
	private $symbols;

	/** @var string Oldest release of WordPress that the connector runs on. */
	private $wordpress;

	/** @var string[] Faults of the file, each with its line. */
	private $faults = array();

	/** @var string Code of the file. */
	private $code = '';

	/** @var Node\Stmt\ClassLike|null Class that is being checked. */
	private $class = null;

	/**
	 * @param Symbols $symbols   The connector, WordPress and PHP.
	 * @param string  $wordpress Oldest release of WordPress that the connector runs on.
	 */
	public function __construct( Symbols $symbols, $wordpress ) {
		$this->symbols   = $symbols;
		$this->wordpress = $wordpress;
	}

	/**
	 * @param string $code PHP code.
	 * @return string[] Faults, each with its line.
	 */
	public function check( $code ) {
		$this->faults = array();
		$this->code   = $code;
		$tree         = Symbols::parse( $code );
		$this->symbols->add( $tree );
		$finder  = new NodeFinder();
		$classes = $finder->findInstanceOf( $tree, Node\Stmt\ClassLike::class );
		foreach ( $classes as $class ) {
			$this->class = $class;
			foreach ( $class->getMethods() as $method ) {
				$this->check_comment( $method );
				$this->check_variables( $method );
				$this->check_names( $method );
			}
			$this->check_unused( $class );
		}
		$this->class = null;
		if ( array() === $classes ) {
			foreach ( $tree as $statement ) {
				$this->check_names( $statement );
			}
		}
		return array_values( array_unique( array_merge( $this->faults, find_newer_syntax( $tree, $code ) ) ) );
	}

	private function fault( Node $node, $text ) {
		$this->faults[] = $node->getStartLine() . ': ' . $text;
	}

	/** Parameters that a comment names are those of the method. */
	private function check_comment( Node\Stmt\ClassMethod $method ) {
		$comment = $method->getDocComment();
		$params  = array();
		foreach ( $method->params as $param ) {
			$params[] = $param->var->name;
		}
		preg_match_all( '/@param\s+[^$\n]*\$(\w+)/', null === $comment ? '' : $comment->getText(), $named );
		if ( array() !== array_diff( $named[1], $params ) ) {
			$this->fault( $method, 'the comment names parameters that ' . $method->name . '() does not have: ' . implode( ', ', array_diff( $named[1], $params ) ) );
		}
		if ( array() === array_diff( $named[1], $params ) && array_values( array_intersect( $params, $named[1] ) ) !== $named[1] ) {
			$this->fault( $method, 'the comment has the parameters of ' . $method->name . '() in another order' );
		}
	}

	/** Every variable that is read is set somewhere in the same function. */
	private function check_variables( Node\FunctionLike $method ) {
		$finder = new NodeFinder();
		if ( null !== $finder->findFirstInstanceOf( (array) $method->getStmts(), Node\Expr\Include_::class ) ) {
			return;
		}
		$set  = self::SUPERGLOBALS;
		$read = array();
		foreach ( $finder->findInstanceOf( array( $method ), Node::class ) as $node ) {
			if ( $node instanceof Node\Param ) {
				$set[] = $node->var->name;
			} elseif ( $node instanceof Node\Expr\Assign || $node instanceof Node\Expr\AssignRef || $node instanceof Node\Stmt\Foreach_ ) {
				$targets = $node instanceof Node\Stmt\Foreach_ ? array_filter( array( $node->keyVar, $node->valueVar ) ) : array( $node->var ); // phpcs:ignore WordPress.NamingConventions.ValidVariableName -- The parser's names.
				foreach ( $finder->findInstanceOf( $targets, Node\Expr\Variable::class ) as $variable ) {
					$set[] = $variable->name;
				}
			} elseif ( $node instanceof Node\Stmt\Catch_ || $node instanceof Node\Stmt\StaticVar ) {
				$set[] = null === $node->var ? '' : $node->var->name;
			} elseif ( $node instanceof Node\Stmt\Global_ ) {
				foreach ( $node->vars as $variable ) {
					$set[] = $variable->name;
				}
			} elseif ( $node instanceof Node\Expr\FuncCall || $node instanceof Node\Expr\StaticCall || $node instanceof Node\Expr\MethodCall ) {
				$callee = $this->find_callee( $node );
				foreach ( $node->args as $at => $argument ) {
					if ( $argument instanceof Node\Arg && $argument->value instanceof Node\Expr\Variable && isset( $callee['by_ref'][ $at ] ) ) {
						$set[] = $argument->value->name;
					}
				}
			} elseif ( $node instanceof Node\Expr\Variable && is_string( $node->name ) ) {
				$read[ $node->name ] = $node;
			}
		}
		foreach ( array_diff_key( $read, array_flip( array_filter( $set, 'is_string' ) ) ) as $name => $node ) {
			$this->fault( $node, "\$$name is set nowhere" );
		}
	}

	/** Private methods, properties and constants are used; a name in a string counts, since callbacks are strings. */
	private function check_unused( Node\Stmt\ClassLike $class ) {
		$private = array();
		foreach ( $class->getMethods() as $method ) {
			if ( $method->isPrivate() && '__construct' !== (string) $method->name ) {
				$private[ (string) $method->name ] = $method;
			}
		}
		foreach ( $class->getProperties() as $properties ) {
			foreach ( $properties->isPrivate() ? $properties->props : array() as $property ) {
				$private[ (string) $property->name ] = $properties;
			}
		}
		foreach ( $private as $name => $node ) {
			if ( preg_match_all( '/(?<![A-Za-z0-9_])' . $name . '(?![A-Za-z0-9_])/', $this->without_comments(), $found ) < 2 ) {
				$this->fault( $node, "$name is private and used nowhere" );
			}
		}
	}

	private function without_comments() {
		$text = '';
		foreach ( PhpToken::tokenize( $this->code ) as $token ) {
			$text .= $token->is( array( T_COMMENT, T_DOC_COMMENT ) ) ? '' : $token->text;
		}
		return $text;
	}

	/** Functions, classes, members and constants. */
	private function check_names( Node $within ) {
		foreach ( ( new NodeFinder() )->findInstanceOf( array( $within ), Node\Expr::class ) as $node ) {
			if ( $node instanceof Node\Expr\FuncCall && $node->name instanceof Node\Name ) {
				$this->check_function( $node );
			} elseif ( $node instanceof Node\Expr\StaticCall && $node->class instanceof Node\Name && $node->name instanceof Node\Identifier ) {
				$this->check_member( $node, $this->resolve( $node->class ), 'methods', (string) $node->name );
			} elseif ( $node instanceof Node\Expr\MethodCall && $node->name instanceof Node\Identifier ) {
				$class = $this->class_of( $node->var, $within );
				if ( null !== $class ) {
					$this->check_member( $node, $class, 'methods', (string) $node->name );
				}
			} elseif ( $node instanceof Node\Expr\StaticPropertyFetch && $node->class instanceof Node\Name && $node->name instanceof Node\VarLikeIdentifier ) {
				$this->check_member( $node, $this->resolve( $node->class ), 'properties', (string) $node->name );
			} elseif ( $node instanceof Node\Expr\PropertyFetch && $node->name instanceof Node\Identifier && $node->var instanceof Node\Expr\Variable && 'this' === $node->var->name ) {
				$this->check_member( $node, $this->resolve( new Node\Name( 'self' ) ), 'properties', (string) $node->name );
			} elseif ( $node instanceof Node\Expr\ClassConstFetch && $node->class instanceof Node\Name && 'class' !== (string) $node->name ) {
				$this->check_member( $node, $this->resolve( $node->class ), 'constants', (string) $node->name );
			} elseif ( $node instanceof Node\Expr\New_ && $node->class instanceof Node\Name ) {
				$this->check_member( $node, $this->resolve( $node->class ), 'methods', '__construct' );
			} elseif ( $node instanceof Node\Expr\Instanceof_ && $node->class instanceof Node\Name ) {
				$this->check_class( $node, $this->resolve( $node->class ), false );
			} elseif ( $node instanceof Node\Expr\ConstFetch ) {
				$this->check_constant( $node );
			} elseif ( $node instanceof Node\Expr\Array_ ) {
				$this->check_callback( $node );
			}
		}
	}

	private function check_function( Node\Expr\FuncCall $node ) {
		$name     = $node->name->toString();
		$function = $this->symbols->find_function( $name );
		$guarded  = $this->is_guarded( 'function_exists', $name );
		if ( null === $function && ! $guarded ) {
			$this->fault( $node, "there is no function $name() in WordPress and PHP 7.4" );
		} elseif ( null !== $function && ! $guarded ) {
			$this->check_since( $node, $function, "$name()" );
		}
		if ( null !== $function ) {
			$this->check_arguments( $node, $function, "$name()" );
		}
		if ( in_array( strtolower( $name ), array( 'add_action', 'add_filter' ), true ) ) {
			$this->check_hooked( $node );
		}
	}

	/** A callback gets all required arguments, and not more than it accepts. */
	private function check_hooked( Node\Expr\FuncCall $node ) {
		$callback = isset( $node->args[1] ) && $node->args[1]->value instanceof Node\Expr\Array_ ? $this->read_callback( $node->args[1]->value ) : null;
		$method   = null === $callback ? null : $this->symbols->find_member( $callback[0], 'methods', $callback[1] );
		$count    = isset( $node->args[3] ) ? $node->args[3]->value : new Node\Scalar\LNumber( 1 );
		if ( ! isset( $method['min'] ) || ! $count instanceof Node\Scalar\LNumber ) {
			return;
		}
		// An action without arguments passes an empty string.
		if ( $method['min'] > $count->value || ( isset( $node->args[3] ) && $method['max'] < $count->value ) ) {
			$this->fault( $node, "{$callback[0]}::{$callback[1]}() takes {$method['min']} to {$method['max']} arguments, and gets $count->value" );
		}
	}

	/** An array that looks like a callback of the connector is one. */
	private function check_callback( Node\Expr\Array_ $node ) {
		$callback = $this->read_callback( $node );
		if ( null === $callback ) {
			return;
		}
		$method = $this->symbols->find_member( $callback[0], 'methods', $callback[1] );
		if ( null === $method ) {
			$this->fault( $node, "there is no method {$callback[0]}::{$callback[1]}()" );
		} elseif ( ! $method['public'] && ! $this->is_within( $method['class'] ) ) {
			$this->fault( $node, "{$callback[0]}::{$callback[1]}() is not public" );
		}
	}

	/** Class and method of `array( 'Security_Optimizer_…', 'method' )`, also where a variable or `__CLASS__` holds the class. */
	private function read_callback( Node\Expr\Array_ $node ) {
		if ( 2 !== count( $node->items ) || null === $node->items[1] || null !== $node->items[0]->key || ! $node->items[1]->value instanceof Node\Scalar\String_ ) {
			return null;
		}
		$class = $node->items[0]->value;
		if ( $class instanceof Node\Expr\Variable ) {
			$class = $this->assigned_string( $class->name );
		}
		if ( $class instanceof Node\Scalar\MagicConst\Class_ ) {
			$name = $this->resolve( new Node\Name( 'self' ) );
		} else {
			$name = $class instanceof Node\Scalar\String_ ? $class->value : '';
		}
		return 0 === stripos( $name, 'Security_Optimizer_' ) && preg_match( '/\A\w+\z/', $node->items[1]->value->value ) ? array( $name, $node->items[1]->value->value ) : null;
	}

	/** The only string that the code assigns to a variable of this name. */
	private function assigned_string( $variable ) {
		static $cache = array();
		$key          = md5( $this->code );
		if ( ! isset( $cache[ $key ] ) ) {
			$cache[ $key ] = array();
			foreach ( ( new NodeFinder() )->findInstanceOf( Symbols::parse( $this->code ), Node\Expr\Assign::class ) as $assign ) {
				if ( $assign->var instanceof Node\Expr\Variable && is_string( $assign->var->name ) && $assign->expr instanceof Node\Scalar\String_ ) {
					$cache[ $key ][ $assign->var->name ][ $assign->expr->value ] = $assign->expr;
				}
			}
		}
		$known = is_string( $variable ) && isset( $cache[ $key ][ $variable ] ) ? $cache[ $key ][ $variable ] : array();
		return 1 === count( $known ) ? current( $known ) : null;
	}

	private function check_member( Node $node, $class, $kind, $name ) {
		if ( ! $this->check_class( $node, $class, true ) ) {
			return;
		}
		if ( $this->is_guarded( 'method_exists', $name ) ) {
			return;
		}
		$member = $this->symbols->find_member( $class, $kind, $name );
		if ( null === $member ) {
			if ( '__construct' === $name ) {
				$this->check_arguments( $node, array( 'min' => 0, 'max' => 0 ), "$class()" ); // phpcs:ignore
				return;
			}
			$this->fault( $node, "$class has no $name among its $kind" );
			return;
		}
		if ( isset( $member['public'] ) && ! $member['public'] && ! $this->is_within( $member['class'] ) ) {
			$this->fault( $node, "$class::$name is not public" );
		}
		if ( $node instanceof Node\Expr\StaticCall && isset( $member['static'] ) && ! $member['static'] && 'parent' !== $node->class->toLowerString() ) {
			$this->fault( $node, "$class::$name() is not static" );
		}
		if ( isset( $member['min'] ) ) {
			$this->check_since( $node, $member, "$class::$name()" );
			$this->check_arguments( $node, $member, "$class::$name()" );
		}
	}

	private function check_class( Node $node, $class, $must_exist ) {
		if ( $this->symbols->has_class( $class ) && ! in_array( strtolower( $class ), NEWER_CLASSES, true ) ) {
			if ( isset( $this->symbols->classes[ strtolower( $class ) ] ) && ! $this->is_guarded( 'class_exists', $class ) ) {
				$this->check_since( $node, $this->symbols->classes[ strtolower( $class ) ], $class );
			}
			return true;
		}
		// `instanceof` may name a class that only some sites have.
		if ( $must_exist && ! $this->is_guarded( 'class_exists', $class ) ) {
			$this->fault( $node, "there is no class $class in WordPress and PHP 7.4" );
		}
		return false;
	}

	private function check_constant( Node\Expr\ConstFetch $node ) {
		$name = $node->name->toString();
		if ( ! defined( $name ) && ! isset( $this->symbols->constants[ $name ] ) && ! $this->is_guarded( 'defined', $name ) ) {
			$this->fault( $node, "there is no constant $name" );
		}
	}

	private function check_since( Node $node, array $found, $name ) {
		if ( isset( $found['since'] ) && preg_match( '/\A\d+\.\d+/', $found['since'], $release ) && version_compare( $release[0], $this->wordpress, '>' ) ) {
			$this->fault( $node, "$name came with WordPress {$found['since']}; the connector runs on $this->wordpress" );
		}
	}

	private function check_arguments( Node $node, array $callee, $name ) {
		foreach ( $node->args as $argument ) {
			if ( ! $argument instanceof Node\Arg || $argument->unpack ) {
				return;
			}
		}
		$count = count( $node->args );
		if ( $count < $callee['min'] || $count > $callee['max'] ) {
			$this->fault( $node, "$name takes {$callee['min']} to {$callee['max']} arguments, and gets $count" );
		}
	}

	private function find_callee( Node $node ) {
		if ( $node instanceof Node\Expr\FuncCall ) {
			return $node->name instanceof Node\Name ? $this->symbols->find_function( $node->name->toString() ) : null;
		}
		if ( $node instanceof Node\Expr\StaticCall && $node->class instanceof Node\Name && $node->name instanceof Node\Identifier ) {
			return $this->symbols->find_member( $this->resolve( $node->class ), 'methods', (string) $node->name );
		}
		return null;
	}

	/** The class of `$this`, of WordPress's globals, and of parameters whose comment or type names one class. */
	private function class_of( Node $value, Node $within ) {
		if ( ! $value instanceof Node\Expr\Variable || ! is_string( $value->name ) ) {
			return null;
		}
		if ( 'this' === $value->name ) {
			return $this->resolve( new Node\Name( 'self' ) );
		}
		if ( isset( self::GLOBALS[ $value->name ] ) ) {
			return self::GLOBALS[ $value->name ];
		}
		$comment = $within->getDocComment();
		$pattern = '/@param\s+([A-Z]\w+)\s+\$' . $value->name . '\b/';
		return null !== $comment && preg_match( $pattern, $comment->getText(), $part ) && $this->symbols->has_class( $part[1] ) ? $part[1] : null;
	}

	private function resolve( Node\Name $name ) {
		if ( in_array( $name->toLowerString(), array( 'self', 'static' ), true ) ) {
			return null === $this->class ? 'self' : (string) $this->class->name;
		}
		return 'parent' === $name->toLowerString() && null !== $this->class && null !== $this->class->extends ? $this->class->extends->toString() : $name->toString();
	}

	private function is_within( $class ) {
		return null !== $this->class && strtolower( (string) $this->class->name ) === strtolower( $class );
	}

	/** Whether the file checks that it exists. */
	private function is_guarded( $by, $name ) {
		return 1 === preg_match( '/\b' . $by . '\(\s*[^()]*[\'"\\\\]' . preg_quote( $name, '/' ) . '[\'"]/i', $this->code );
	}
}

//! Plants mutants into a source file: each is an expression that is as before unless its number is on.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprIf, ExprMatch, ImplItemFn, ItemConst, ItemFn, ItemMod, ItemStatic, Pat, PatGuard,
    ReturnType, Stmt, UnOp, parse_quote,
};

/// Plants, and numbers what it planted.
#[derive(Default)]
pub(crate) struct Planter {
    source: String,
    names: Vec<String>,
}

impl Planter {
    /// The file with its mutants.
    pub(crate) fn plant(&mut self, source: &str, text: &str) -> syn::Result<String> {
        self.source = source.to_owned();
        let mut file = syn::parse_file(text)?;
        self.visit_file_mut(&mut file);
        Ok(prettyplease::unparse(&file))
    }

    /// What each mutant does, in the order of their numbers, from 1.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The question whether a new mutant is on.
    fn on(&mut self, at: Span, what: &str) -> Expr {
        self.names.push(format!("{}:{} {what}", self.source, at.start().line));
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        parse_quote!(crate::mutant::is_on(#number))
    }

    /// Both answers of a question, which is `was` in the source.
    fn decided(&mut self, was: &Expr, question: &Expr) -> Expr {
        let text = was.to_token_stream();
        let always = self.on(was.span(), &format!("always true: {text}"));
        let never = self.on(was.span(), &format!("always false: {text}"));
        parse_quote!(((#question) || #always) && !#never)
    }

    /// An empty body, where the type of the answer allows one that is easy to get wrong.
    fn body(&mut self, output: &ReturnType, block: &mut Block) {
        let answers: Vec<Expr> = match output {
            ReturnType::Default => vec![parse_quote!(())],
            ReturnType::Type(_, kind) => match kind.to_token_stream().to_string().replace(' ', "").as_str() {
                "bool" => vec![parse_quote!(true), parse_quote!(false)],
                "String" => vec![parse_quote!(String::new())],
                text if text.starts_with("Result<(),") || text == "io::Result<()>" => vec![parse_quote!(Ok(()))],
                text if text.starts_with("Option<") => vec![parse_quote!(None)],
                text if text.starts_with("Vec<") => vec![parse_quote!(Vec::new())],
                _ => vec![],
            },
        };
        for answer in answers {
            let on = self.on(block.span(), &format!("answers {}", answer.to_token_stream()));
            block.stmts.insert(0, parse_quote!(if #on { return #answer; }));
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|one| {
        let text = one.to_token_stream().to_string();
        text.contains("cfg (test)") || text.contains("# [test]")
    })
}

/// Whether something is bound by it, so that it cannot be wrapped.
fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        Expr::Paren(paren) => binds(&paren.expr),
        _ => false,
    }
}

impl VisitMut for Planter {
    fn visit_item_mod_mut(&mut self, item: &mut ItemMod) {
        if !is_test(&item.attrs) {
            visit_mut::visit_item_mod_mut(self, item);
        }
    }

    // The switch is no constant.
    fn visit_item_const_mut(&mut self, _: &mut ItemConst) {}
    fn visit_item_static_mut(&mut self, _: &mut ItemStatic) {}

    fn visit_item_fn_mut(&mut self, item: &mut ItemFn) {
        if item.sig.constness.is_none() && !is_test(&item.attrs) {
            visit_mut::visit_item_fn_mut(self, item);
            self.body(&item.sig.output, &mut item.block);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut ImplItemFn) {
        let shown = item.sig.ident == "fmt";
        if item.sig.constness.is_none() && !shown {
            visit_mut::visit_impl_item_fn_mut(self, item);
            self.body(&item.sig.output, &mut item.block);
        }
    }

    fn visit_expr_if_mut(&mut self, expr: &mut ExprIf) {
        let was = expr.cond.clone();
        visit_mut::visit_expr_if_mut(self, expr);
        // The parts of a binary question are mutants already.
        if !binds(&was) && !matches!(*was, Expr::Binary(_) | Expr::Paren(_)) {
            expr.cond = Box::new(self.decided(&was, &expr.cond));
        }
    }

    fn visit_expr_match_mut(&mut self, expr: &mut ExprMatch) {
        let before = expr.arms.clone();
        visit_mut::visit_expr_match_mut(self, expr);
        let others = expr.arms.len().saturating_sub(1);
        for (was, arm) in before.iter().zip(&mut expr.arms) {
            if is_push(&arm.body) {
                let on = self.on(was.body.span(), &format!("left out: {}", was.body.to_token_stream()));
                let deed = arm.body.clone();
                *arm.body = parse_quote!({ if !#on { #deed; } });
            }
        }
        if before.last().is_some_and(takes_all) {
            for (was, arm) in before.iter().zip(&mut expr.arms).take(others) {
                let on = self.on(was.span(), &format!("never this arm: {}", was.pat.to_token_stream()));
                arm.pat = unless(&on, &arm.pat);
            }
        }
    }

    fn visit_pat_guard_mut(&mut self, pattern: &mut PatGuard) {
        let was = pattern.guard.clone();
        visit_mut::visit_pat_guard_mut(self, pattern);
        if !binds(&was) && !matches!(*was, Expr::Binary(_) | Expr::Paren(_)) {
            *pattern.guard = self.decided(&was, &pattern.guard);
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // A name for people is of the text as it was.
        let before = expr.clone();
        visit_mut::visit_expr_mut(self, expr);
        match (&before, &*expr) {
            (Expr::Binary(was), Expr::Binary(now)) if !binds(&before) => {
                let (left, right, at) = (&now.left, &now.right, was.op.span());
                let text = before.to_token_stream();
                match was.op {
                    BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                        let on = self.on(at, &format!("negated: {text}"));
                        let edge: Option<Expr> = match was.op {
                            BinOp::Lt(_) => Some(parse_quote!(#left <= #right)),
                            BinOp::Le(_) => Some(parse_quote!(#left < #right)),
                            BinOp::Gt(_) => Some(parse_quote!(#left >= #right)),
                            BinOp::Ge(_) => Some(parse_quote!(#left > #right)),
                            _ => None,
                        };
                        let whole = now.clone();
                        *expr = match edge {
                            None => parse_quote!(((#whole) ^ #on)),
                            Some(edge) => {
                                let moved = self.on(at, &format!("edge moved: {text}"));
                                parse_quote!((if #moved { #edge } else { #whole } ^ #on))
                            }
                        };
                    }
                    BinOp::And(_) => {
                        let (first, second) =
                            (self.on(at, &format!("left ignored: {text}")), self.on(at, &format!("right ignored: {text}")));
                        *expr = parse_quote!(((#first || #left) && (#second || #right)));
                    }
                    BinOp::Or(_) => {
                        let (first, second) =
                            (self.on(at, &format!("left ignored: {text}")), self.on(at, &format!("right ignored: {text}")));
                        *expr = parse_quote!(((!#first && #left) || (!#second && #right)));
                    }
                    _ => {}
                }
            }
            (Expr::Unary(was), Expr::Unary(now)) if matches!(was.op, UnOp::Not(_)) => {
                let on = self.on(was.span(), &format!("not negated: {}", before.to_token_stream()));
                let inner = &now.expr;
                *expr = parse_quote!((!(#inner) ^ #on));
            }
            _ => {}
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        let before = block.stmts.clone();
        visit_mut::visit_block_mut(self, block);
        for (was, stmt) in before.iter().zip(&mut block.stmts) {
            if let Stmt::Expr(expr, Some(_)) = stmt
                && is_deed(expr)
            {
                let text = was.to_token_stream().to_string();
                let on = self.on(was.span(), &format!("left out: {text}"));
                let deed = expr.clone();
                *stmt = parse_quote!(if !#on { #deed; });
            } else if let Stmt::Expr(expr, None) = stmt
                && is_push(expr)
            {
                let on = self.on(was.span(), &format!("left out: {}", was.to_token_stream()));
                let deed = expr.clone();
                *stmt = parse_quote!(if !#on { #deed; });
            }
        }
    }
}

/// Whether nothing passes it by.
fn takes_all(arm: &Arm) -> bool {
    match &arm.pat {
        Pat::Wild(_) => true,
        Pat::Ident(named) => named.ident.to_string().starts_with(char::is_lowercase),
        _ => false,
    }
}

/// The pattern, unless that mutant is on.
fn unless(on: &Expr, pat: &Pat) -> Pat {
    let (pat, guard): (&Pat, Expr) = match pat {
        Pat::Guard(guarded) => {
            let guard = &guarded.guard;
            (&guarded.pat, parse_quote!((#guard) && !#on))
        }
        other => (other, parse_quote!(!#on)),
    };
    Pat::Guard(PatGuard { attrs: Vec::new(), pat: Box::new(pat.clone()), if_token: Default::default(), guard: Box::new(guard) })
}

/// Whether it adds one more, and answers nothing.
fn is_push(expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(call) if call.method == "push" || call.method == "extend")
}

/// Whether it is done for what it does.
fn is_deed(expr: &Expr) -> bool {
    match expr {
        Expr::Call(_) | Expr::MethodCall(_) => true,
        Expr::Try(inner) => is_deed(&inner.expr),
        Expr::Await(inner) => is_deed(&inner.base),
        _ => false,
    }
}

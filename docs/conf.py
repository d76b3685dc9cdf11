"""How Sphinx makes the site. `make docs` runs it on a copy of this folder: see tools/site.py."""

from sphinx.domains.python import PyFunction, PyMethod, PythonDomain

project = "imode"
author = "the imode authors"
copyright = "2026, the imode authors"
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_title = "imode"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True, "footer_icons": []}
html_copy_source = False
html_show_sourcelink = False
myst_heading_anchors = 4
nitpicky = True  # a reference that leads nowhere is an error
nitpick_ignore_regex = [("py:.*", r"(?!imode\.).*")]  # types in signatures: Any, int, Number
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"


class Function(PyFunction):
    """A function with all its overloads: their signatures are written on one line."""

    def get_signatures(self):
        """Return the signatures, one for each overload."""
        return self.arguments[0].split(" &&& ")


class Method(PyMethod):
    """A method with all its overloads."""

    get_signatures = Function.get_signatures


class Names(PythonDomain):
    """Names lead somewhere when they are written in full, or are these types of signatures."""

    TYPES = ("Tensor", "dtype", "device", "Generator")

    def resolve_xref(self, env, docname, builder, kind, target, node, contnode):
        """Return the link to an object, or None."""
        if target in self.TYPES:
            target = f"imode.{target}"
        if target not in self.objects:
            return None
        return super().resolve_xref(env, docname, builder, kind, target, node, contnode)


def setup(app):
    """Put them in the place of Sphinx's own."""
    app.add_domain(Names, override=True)
    app.add_directive_to_domain("py", "function", Function, override=True)
    app.add_directive_to_domain("py", "method", Method, override=True)

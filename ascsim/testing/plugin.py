"""The pytest plugin under the name that `-p ascsim.testing.plugin` gives; see `_ascsim_pytestplugin`, which holds it.

The entry point has the same name, so that the plugin is registered once however it is asked for.
"""

from _ascsim_pytestplugin import *

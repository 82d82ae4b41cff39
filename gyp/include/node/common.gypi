# What node-gyp expects in --nodedir. The real one comes with Node's own headers, which we do not need:
# Node-API headers come from npm, and binding.gyp sets every flag itself.
{
  'variables': {
    'node_engine%': 'v8',
    'openssl_fips%': '',
    'standalone_static_library%': 0,
  },
  'target_defaults': {
    'default_configuration': 'Release',
    'configurations': {
      'Debug': {'cflags': ['-g', '-O0']},
      'Release': {'cflags': ['-O2'], 'defines': ['NDEBUG']},
    },
  },
}

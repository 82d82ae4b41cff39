# The second build system, for machines without CMake. Sources come from native/sources.json; the flags mirror
# cmake/Flags.cmake: change both.
{
  'variables': {
    'spty_werror%': 1,
    'node_api_headers': '<!(node scripts/header-dir.mjs node-api-headers)',
    'node_addon_api': '<!(node scripts/header-dir.mjs node-addon-api)',
    'common_cflags': [
      '-std=c++20', '-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-fvisibility=hidden',
      '-fvisibility-inlines-hidden', '-fstack-protector-strong', '-ffunction-sections', '-fdata-sections',
      '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2',
      # GCC 12 is wrong about std::string operator+ (GCC bug 105651); Clang does not know this warning.
      '-Wno-unknown-warning-option', '-Wno-restrict',
    ],
  },
  'target_defaults': {
    'include_dirs': ['native'],
    'cflags_cc': ['<@(common_cflags)'],
    'xcode_settings': {
      'OTHER_CPLUSPLUSFLAGS': ['<@(common_cflags)'],
      'MACOSX_DEPLOYMENT_TARGET': '11.0',
    },
    'conditions': [
      ['spty_werror==1', {
        'cflags_cc': ['-Werror'],
        'xcode_settings': {'OTHER_CPLUSPLUSFLAGS': ['-Werror']},
      }],
      ['target_arch=="x64" or target_arch=="ia32"', {
        'cflags_cc': ['-fcf-protection'],
      }],
    ],
  },
  'targets': [
    {
      'target_name': 'sandboxed_pty',
      'dependencies': ['sandboxed-pty-keeper', 'spty_core'],
      'sources': ['<!@(node scripts/gyp-sources.mjs binding)'],
      'defines': [
        'NAPI_VERSION=8', 'NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS', 'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
      ],
      'cflags': ['-fPIC'],
      # System headers: warnings in other people's headers are not ours to fix.
      'cflags_cc': ['-fno-exceptions', '-isystem', '<(node_api_headers)', '-isystem', '<(node_addon_api)'],
      'xcode_settings': {
        'GCC_ENABLE_CPP_EXCEPTIONS': 'NO',
        'OTHER_CPLUSPLUSFLAGS': ['-isystem', '<(node_api_headers)', '-isystem', '<(node_addon_api)'],
        'OTHER_LDFLAGS': ['-Wl,-dead_strip'],
      },
      'conditions': [
        ['OS=="linux"', {
          'ldflags': [
            '-Wl,--version-script=<(module_root_dir)/cmake/exports.map', '-Wl,--gc-sections', '-Wl,-z,relro',
            '-Wl,-z,now', '-Wl,-z,noexecstack', '-static-libstdc++', '-static-libgcc', '-Wl,-s', '-pthread',
          ],
        }],
      ],
    },
    {
      'target_name': 'spty_core',
      'type': 'static_library',
      'sources': ['<!@(node scripts/gyp-sources.mjs base core keeper_shared)'],
      'cflags': ['-fPIC'],
      'cflags_cc': ['-fno-exceptions'],
      'xcode_settings': {'GCC_ENABLE_CPP_EXCEPTIONS': 'NO'},
      'dependencies': ['spty_settings'],
    },
    {
      'target_name': 'sandboxed-pty-keeper',
      'type': 'executable',
      'sources': ['<!@(node scripts/gyp-sources.mjs keeper keeper_shared)'],
      'cflags_cc': [
        '-fno-exceptions', '-fno-rtti', '-fno-asynchronous-unwind-tables', '-fno-threadsafe-statics', '-Os', '-fPIE',
      ],
      'xcode_settings': {
        'GCC_ENABLE_CPP_EXCEPTIONS': 'NO',
        'GCC_ENABLE_CPP_RTTI': 'NO',
        'OTHER_LDFLAGS': ['-Wl,-dead_strip'],
      },
      'conditions': [
        # Which C library, and why: docs/decisions/keeper-build.md.
        ['OS=="linux"', {
          'cflags_cc': ['<!@(node scripts/keeper-libc.mjs <(target_arch) "${CXX:-c++}" compile)'],
          'ldflags': [
            '<!@(node scripts/keeper-libc.mjs <(target_arch) "${CXX:-c++}" start)',
            '-Wl,--gc-sections', '-Wl,-z,relro', '-Wl,-z,now', '-Wl,-z,noexecstack', '-Wl,-s',
          ],
          'libraries': ['<!@(node scripts/keeper-libc.mjs <(target_arch) "${CXX:-c++}" end)'],
        }],
      ],
    },
    {
      # nlohmann_json's parser throws. Exceptions stay inside these files.
      'target_name': 'spty_settings',
      'type': 'static_library',
      'sources': ['<!@(node scripts/gyp-sources.mjs settings)'],
      'cflags': ['-fPIC'],
      # The packed package carries the headers; in a clone they are the system's, or scripts/provide-nlohmann.mjs got them.
      'cflags_cc': [
        '-fexceptions', '-isystem', '<(module_root_dir)/third_party/nlohmann_json/include',
        '-isystem', '<(module_root_dir)/build/third_party/nlohmann_json/include',
      ],
      'xcode_settings': {
        'GCC_ENABLE_CPP_EXCEPTIONS': 'YES',
        'OTHER_CPLUSPLUSFLAGS': [
          '-isystem', '<(module_root_dir)/third_party/nlohmann_json/include',
          '-isystem', '<(module_root_dir)/build/third_party/nlohmann_json/include',
        ],
      },
    },
  ],
}
